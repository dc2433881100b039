"""Products with matrices; all of them reach BLAS."""

from functools import lru_cache
from typing import Any

import numpy as np

from clearformer.engines.bounds import check_ids
from clearformer.engines.numpy.products import matrix_product
from clearformer.engines.tape import is_recorded, record, room_for, value_of


def linear(x: Any, weight: Any, bias: Any = None) -> Any:
    """y = x W + b.  dL/dx = g Wᵀ,  dL/dW = xᵀ g,  dL/db = the rows of g added up."""
    rows, matrix = value_of(x), value_of(weight)
    flat = rows.reshape(-1, matrix.shape[0])  # one large product instead of one per sequence
    result = matrix_product(flat, matrix)
    if bias is not None:
        result += value_of(bias)

    biased = bias is not None  # a gradient that held the tensor itself would hold its tape
    room = room_for(weight)

    def gradient(grad: np.ndarray) -> tuple[np.ndarray | None, ...]:
        grad = grad.reshape(-1, matrix.shape[1])
        to_x = matrix_product(grad, matrix.T).reshape(rows.shape)
        back = to_x, matrix_product(flat.T, grad, out=room)
        return back if not biased else (*back, sum_of_rows(grad))

    inputs = (x, weight) if bias is None else (x, weight, bias)
    return record("linear", result.reshape(*rows.shape[:-1], matrix.shape[1]), inputs, gradient)


def linear_pair(
    x: Any, first: Any, second: Any, first_bias: Any = None, second_bias: Any = None
) -> Any:
    """y = x [W₁ | W₂] + [b₁ | b₂].  dL/dx = g₁ W₁ᵀ + g₂ W₂ᵀ with g = [g₁ | g₂]; else as `linear`.

    Each product is made where its result belongs: nothing is put side by side.
    """
    rows, matrices = value_of(x), (value_of(first), value_of(second))
    flat = rows.reshape(-1, matrices[0].shape[0])
    cut = matrices[0].shape[1]
    sides = slice(cut), slice(cut, cut + matrices[1].shape[1])
    biases = (first_bias, second_bias)
    result = np.empty((len(flat), sides[1].stop), np.result_type(flat, *matrices))
    for side, matrix, bias in zip(sides, matrices, biases, strict=True):
        matrix_product(flat, matrix, out=result[:, side])
        if bias is not None:
            result[:, side] += value_of(bias)
    biased = [bias is not None for bias in biases]
    rooms = room_for(first), room_for(second)

    def gradient(grad: np.ndarray) -> tuple[np.ndarray | None, ...]:
        parts = [grad.reshape(-1, sides[1].stop)[:, side] for side in sides]
        to_x = matrix_product(parts[0], matrices[0].T)
        to_x += matrix_product(parts[1], matrices[1].T)
        to_biases = (sum_of_rows(g) if b else None for g, b in zip(parts, biased, strict=True))
        to_weights = (matrix_product(flat.T, g, out=r) for g, r in zip(parts, rooms, strict=True))
        return to_x.reshape(rows.shape), *to_weights, *to_biases

    shape = (*rows.shape[:-1], sides[1].stop)
    return record("linear_pair", result.reshape(shape), (x, first, second, *biases), gradient)


def matmul(left: Any, right: Any) -> Any:
    """y = A B on the last two axes.  dL/dA = g Bᵀ,  dL/dB = Aᵀ g, for what lies on a tape."""
    a, b = value_of(left), value_of(right)
    to_left = b if is_recorded(left) else None
    to_right = a if is_recorded(right) else None

    def gradient(grad: np.ndarray) -> tuple[np.ndarray | None, ...]:
        return (
            None if to_left is None else matrix_product(grad, to_left.swapaxes(-1, -2)),
            None if to_right is None else matrix_product(to_right.swapaxes(-1, -2), grad),
        )

    return record("matmul", a @ b, (left, right), gradient)


def embed(ids: np.ndarray, table: Any) -> Any:
    """y = E[ids]: a one-hot row times E.  dL/dE adds, for each token, the gradients it received.

    The sum is a product with the one-hot rows for small vocabularies, else a sorted segment sum
    (`np.add.at` is many times slower than both).
    """
    rows = value_of(table)

    def gradient(grad: np.ndarray) -> tuple[np.ndarray]:
        flat_ids, flat = ids.reshape(-1), grad.reshape(-1, rows.shape[1])
        if len(rows) <= SMALL_VOCABULARY:
            one_hot = np.zeros((len(flat_ids), len(rows)), flat.dtype)
            one_hot[np.arange(len(flat_ids)), flat_ids] = 1
            return (one_hot.T @ flat,)
        back = np.zeros_like(rows)
        if len(flat_ids):
            order = np.argsort(flat_ids, kind="stable")
            tokens, starts = np.unique(flat_ids[order], return_index=True)
            back[tokens] = np.add.reduceat(flat[order], starts, axis=0)
        return (back,)

    check_ids(ids, len(rows))
    return record("embed", rows[ids], (table,), gradient)


SMALL_VOCABULARY = 512
"""Up to here a product with one-hot rows is quicker than sorting (measured with 384 × 128)."""


def sum_of_rows(matrix: np.ndarray) -> np.ndarray:
    """The sum over the first axis, as a product: several times quicker than `sum(0)`."""
    return _ones(len(matrix), matrix.dtype) @ matrix


@lru_cache(maxsize=64)
def _ones(count: int, dtype: np.dtype[Any]) -> np.ndarray:
    return np.ones(count, dtype)
