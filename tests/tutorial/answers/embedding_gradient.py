import numpy as np


def embedding_gradient(ids, grad, vocab_size):
    table = np.zeros((vocab_size, grad.shape[-1]))
    np.add.at(table, ids, grad)
    return table
