import numpy as np
from softmax import softmax


def top_k(logits, k):
    k = min(k, logits.shape[-1])
    smallest_kept = np.sort(logits, axis=-1)[..., -k, None]
    return softmax(np.where(logits >= smallest_kept, logits, -np.inf))
