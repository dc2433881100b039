"""Attention with three positions and matrices small enough to follow with a pencil.

It prints:

    every position sees every position
    [[0.401 0.198 0.401]
     [0.164 0.164 0.673]
     [0.178 0.088 0.734]]
    nobody looks ahead
    [[1.    0.    0.   ]
     [0.5   0.5   0.   ]
     [0.178 0.088 0.734]]
    the same, in five lines of NumPy: True
"""

from typing import Any

import numpy as np

import clearformer as cf

X = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
W_Q = np.array([[1.0, 0.0], [0.0, 2.0]])
W_K = np.array([[1.0, 1.0], [0.0, 1.0]])
W_V = np.array([[1.0, 2.0], [3.0, 4.0]])

output: Any  # NumPy arrays, since these are what goes in
weights: Any
output, weights = cf.self_attention(X, W_Q, W_K, W_V)
print("every position sees every position")
print(weights.round(3))

_, weights = cf.self_attention(X, W_Q, W_K, W_V, causal=True)
print("nobody looks ahead")
print(weights.round(3))

query, key, value = X @ W_Q, X @ W_K, X @ W_V
scores = query @ key.T / np.sqrt(query.shape[-1])
shares = np.exp(scores - scores.max(axis=-1, keepdims=True))
shares /= shares.sum(axis=-1, keepdims=True)
by_hand = shares @ value
print("the same, in five lines of NumPy:", np.allclose(output, by_hand))
