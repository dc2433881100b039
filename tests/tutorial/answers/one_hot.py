import numpy as np


def one_hot(ids, vocab_size):
    rows = np.zeros((len(ids), vocab_size))
    rows[np.arange(len(ids)), ids] = 1
    return rows
