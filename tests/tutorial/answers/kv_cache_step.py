import numpy as np
from softmax import softmax


def kv_cache_step(x, cache, W_Q, W_K, W_V):
    q, k, v = x @ W_Q, x @ W_K, x @ W_V
    K = np.vstack([cache["K"], k])
    V = np.vstack([cache["V"], v])
    out = softmax(q @ K.T / np.sqrt(K.shape[-1])) @ V
    return out, {"K": K, "V": V}
