import numpy as np


def positional_encoding(n_positions, d_model):
    positions = np.arange(n_positions)[:, None]
    angles = positions / 10000 ** (np.arange(0, d_model, 2) / d_model)
    waves = np.zeros((n_positions, d_model))
    waves[:, 0::2] = np.sin(angles)
    waves[:, 1::2] = np.cos(angles)
    return waves
