import numpy as np
from attention_scores import attention_scores


def scaled_scores(Q, K):
    return attention_scores(Q, K) / np.sqrt(Q.shape[-1])
