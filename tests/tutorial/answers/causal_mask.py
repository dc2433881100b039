import numpy as np


def causal_mask(scores):
    seen = np.tril(np.ones(scores.shape[-2:], dtype=bool))
    return np.where(seen, scores, -np.inf)
