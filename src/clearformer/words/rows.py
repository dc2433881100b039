"""A table of which each step touches few rows, and Adagrad for those.

A step meets some hundreds of a vocabulary's thousands of words. An optimizer that goes over the
whole table would work on rows without a gradient, and one with momentum would move them.
word2vec takes plain gradient steps pair by pair. Here a step adds up thousands of pairs, so that
the gradient of "the" is hundreds of times that of a rare word: no single learning rate fits both.
Adagrad divides each number's gradient by the root of all its squares so far, which gives each its
own rate, and needs nothing for the rows that are not touched.
(Duchi, Hazan and Singer, "Adaptive Subgradient Methods", 2011.)
"""

import numpy as np

from clearformer.tensor import Float, Int

EPSILON = 1e-6
"""Keeps the first division from being 0/0."""


class Rows:
    """A table of vectors, and the sums of squares of its gradients."""

    def __init__(self, table: Float[np.ndarray, "vocab embed"], learning_rate: float) -> None:
        self.table = table
        self._squares = np.zeros_like(table)
        self._learning_rate = learning_rate

    def update(
        self, ids: Int[np.ndarray, " touched"], gradients: Float[np.ndarray, "touched embed"]
    ) -> None:
        """One step of Adagrad on some rows, each named once."""
        squares = self._squares[ids] + gradients * gradients
        self._squares[ids] = squares
        step = gradients / (np.sqrt(squares) + EPSILON)
        self.table[ids] -= self.table.dtype.type(self._learning_rate) * step
