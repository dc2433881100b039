import numpy as np


def gelu(x):
    return x / 2 * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))


def feed_forward(x, W_1, b_1, W_2, b_2):
    return gelu(x @ W_1 + b_1) @ W_2 + b_2
