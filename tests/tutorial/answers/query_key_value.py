def query_key_value(X, W_Q, W_K, W_V):
    return X @ W_Q, X @ W_K, X @ W_V
