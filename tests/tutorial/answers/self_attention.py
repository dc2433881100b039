from causal_mask import causal_mask
from query_key_value import query_key_value
from scaled_scores import scaled_scores
from softmax import softmax


def self_attention(X, W_Q, W_K, W_V, masked=True):
    Q, K, V = query_key_value(X, W_Q, W_K, W_V)
    scores = scaled_scores(Q, K)
    if masked:
        scores = causal_mask(scores)
    return softmax(scores) @ V
