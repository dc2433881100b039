def attention_scores(Q, K):
    return Q @ K.swapaxes(-1, -2)
