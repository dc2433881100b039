import numpy as np


def top_p(probs, p):
    order = np.argsort(-probs, axis=-1, kind="stable")
    falling = np.take_along_axis(probs, order, axis=-1)
    before = falling.cumsum(axis=-1) - falling
    kept = np.where(before < p, falling, 0) if p < 1 else falling
    result = np.zeros_like(probs)
    np.put_along_axis(result, order, kept, axis=-1)
    return result / result.sum(axis=-1, keepdims=True)
