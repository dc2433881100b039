def merge_heads(heads):
    *batch, H, T, d = heads.shape
    return heads.swapaxes(-3, -2).reshape(*batch, T, H * d)
