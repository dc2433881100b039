def split_heads(X, n_heads):
    *batch, T, C = X.shape
    return X.reshape(*batch, T, n_heads, C // n_heads).swapaxes(-3, -2)
