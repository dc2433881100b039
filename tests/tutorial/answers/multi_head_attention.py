from causal_mask import causal_mask
from merge_heads import merge_heads
from query_key_value import query_key_value
from scaled_scores import scaled_scores
from softmax import softmax
from split_heads import split_heads


def multi_head_attention(X, W_Q, W_K, W_V, W_O, n_heads, masked=True):
    Q, K, V = (split_heads(each, n_heads) for each in query_key_value(X, W_Q, W_K, W_V))
    scores = scaled_scores(Q, K)
    if masked:
        scores = causal_mask(scores)
    return merge_heads(softmax(scores) @ V) @ W_O
