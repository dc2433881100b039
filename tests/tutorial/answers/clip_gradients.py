import numpy as np


def clip_gradients(grads, max_norm):
    norm = np.sqrt(sum((g**2).sum() for g in grads))
    if norm <= max_norm:
        return grads
    return [g * (max_norm / norm) for g in grads]
