"""What the recurrent cells share: sequences laid out step by step, and products of all steps.

A recurrence a_t = x_t W + h_{t-1} U + b waits for h_{t-1} only: all x_t W are one product before
the first step. Backwards, once d_t = dL/da_t is known for all steps, so are the gradients of the
weights, which add up over steps and sequences (Werbos, "Backpropagation Through Time", 1990):

    dL/dW = Σ_t x_tᵀ d_t,   dL/dU = Σ_t h_{t-1}ᵀ d_t,   dL/db = Σ_t d_t,   dL/dx_t = d_t Wᵀ.

With the steps below each other each sum is one product of matrices.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from clearformer.engines.bounds import check_recurrence
from clearformer.engines.packing import Packing, packing
from clearformer.engines.tape import value_of


class Unrolled:
    """A batch of sequences, step by step.

    Attributes:
        x: the packed rows, (position, input).
        steps: of each step, its packed rows, and the states it starts from (see `Packing`).
    """

    def __init__(self, gates: int, lengths: Any, x: Any, **others: Any):
        there = {name: value_of(one) for name, one in others.items() if one is not None}
        data = value_of(x)
        lengths = None if lengths is None else np.asarray(lengths)
        shapes = {name: one.shape for name, one in there.items()}
        check_recurrence(gates, lengths, data.shape, **shapes)
        self._packing: Packing = packing(data.shape[0], data.shape[1], lengths)
        self.steps = self._packing.slices
        self.before = self._packing.before
        self.x = self.packed(data)

    def packed(self, x: np.ndarray) -> np.ndarray:
        """(batch, seq, …) → (position, …)."""
        if self._packing.order is None:
            return x.swapaxes(0, 1).reshape(-1, x.shape[-1])
        return x[self._packing.rows, self._packing.steps]

    def unpacked(self, rows: np.ndarray) -> np.ndarray:
        """(position, …) → (batch, seq, …), with 0 where there is nothing."""
        batch, seq = self._packing.batch, self._packing.seq
        if self._packing.order is None:
            return rows.reshape(seq, batch, rows.shape[-1]).swapaxes(0, 1)
        whole = np.zeros((batch, seq, rows.shape[-1]), rows.dtype)
        whole[self._packing.rows, self._packing.steps] = rows
        return whole

    def states(self, first: np.ndarray, dtype: Any) -> np.ndarray:
        """Room for the states of all steps, with the initial ones in their places."""
        batch = self._packing.batch
        room = np.empty((batch + self._packing.total, first.shape[-1]), dtype)
        room[:batch] = first if self._packing.order is None else first[self._packing.order]
        return room

    def product(self, weight: np.ndarray) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
        """What multiplies the rows of every step with a weight: see `repeated`."""
        return repeated(weight, len(self.steps))

    def room(self, columns: int, dtype: Any) -> np.ndarray:
        """Room for a row of every sequence."""
        return np.empty((self._packing.batch, columns), dtype)

    def after(self, states: np.ndarray) -> np.ndarray:
        """The states that follow each packed row."""
        return states[self._packing.batch :]

    def last(self, states: np.ndarray) -> np.ndarray:
        """The last state of each sequence, a copy."""
        return np.array(states[self._packing.last][self._packing.back])

    def carried(self, grad: np.ndarray | None, like: np.ndarray) -> np.ndarray:
        """The gradient of the last states, in order, to be changed on its way back in time."""
        shape = self._packing.batch, like.shape[-1]
        if grad is None:
            return np.zeros(shape, like.dtype)
        return np.array(grad if self._packing.order is None else grad[self._packing.order])

    def first(self, carried: np.ndarray) -> np.ndarray:
        """The gradient of the initial states: what was carried all the way."""
        return carried if self._packing.order is None else carried[self._packing.back]


STRIPE = 64
"""Columns. A product of few rows with so many columns is small enough for OpenBLAS to take its
numbers where they lie, in place of copying the whole weight into an order of its own each time:
measured with 12 rows and 256 × 1,024, 57 µs in place of 160; with 32 rows, 147 in place of 244."""

WORTH_CUTTING = 4
"""Products with a weight that make up for cutting it into stripes."""


def repeated(weight: np.ndarray, times: int) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    """product(rows, out) = rows @ weight, to be called so many times with few rows."""
    inner, columns = weight.shape
    if times < WORTH_CUTTING or columns % STRIPE:
        return lambda rows, out: np.matmul(rows, weight, out=out)
    stripes = np.ascontiguousarray(weight.reshape(inner, -1, STRIPE).swapaxes(0, 1))

    def product(rows: np.ndarray, out: np.ndarray) -> np.ndarray:
        np.matmul(rows, stripes, out=out.reshape(len(out), -1, STRIPE).swapaxes(0, 1))
        return out

    return product


def squash(rows: np.ndarray) -> None:
    """σ(a) = (1 + tanh(a/2)) / 2 in place: the quicker way, and no number overflows."""
    rows *= 0.5
    np.tanh(rows, out=rows)
    rows += 1
    rows *= 0.5
