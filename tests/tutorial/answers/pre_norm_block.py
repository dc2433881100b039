from layer_norm import layer_norm


def norm(x):
    return layer_norm(x, 1, 0)


def pre_norm_block(x, W_1, W_2):
    h = x + norm(x) @ W_1
    return h + norm(h) @ W_2
