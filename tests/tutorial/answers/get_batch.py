import numpy as np


def get_batch(data, starts, block_size):
    places = starts[:, None] + np.arange(block_size)
    return data[places], data[places + 1]
