import numpy as np
from softmax import softmax


def temperature(logits, T):
    if T == 0:
        return (np.arange(logits.shape[-1]) == logits.argmax(axis=-1)[..., None]).astype(float)
    return softmax((logits - logits.max(axis=-1, keepdims=True)) / T)
