"""Turning pairs of numbers by an angle: rotary positions."""

from typing import Any

import numpy as np

from clearformer.engines.numpy.norms import inverse_root, through_the_root
from clearformer.engines.tape import compiled_of, record, value_of


def rotate(x: Any, turn: np.ndarray) -> Any:
    """Reads each pair (x₂ᵢ, x₂ᵢ₊₁) as one complex number and multiplies it by `turn`.

    The gradient is turned back: dL/dx = g · conj(turn).
    """
    data = value_of(x)
    turn = _beside(data, turn)

    def gradient(grad: np.ndarray) -> tuple[np.ndarray]:
        return (_turned(grad, np.conj(turn)),)

    return record("rotate", _turned(data, turn), (x,), gradient)


def rotate_unit(x: Any, turn: np.ndarray, epsilon: float = 1e-6) -> Any:
    """y = n · turn with n = x / r and r = sqrt(mean(x²) + epsilon).

    A turn keeps products: mean(h * n) with h = g · conj(turn), which the norm's gradient needs, is
    mean(g * y). So that gradient is taken first, and then turned back.
    """
    if compiled_of((x,)):
        from clearformer.engines.numpy.compiled import rows

        if rows.turns_heads(x, turn):
            return rows.rotate_unit(x, turn, epsilon)
    data = value_of(x)
    turn = _beside(data, turn)
    inverse = inverse_root(data, epsilon)
    turned = _with_neighbours(data) * inverse
    _turn_in_place(turned, turn)

    def gradient(grad: np.ndarray) -> tuple[np.ndarray]:
        back = through_the_root(grad, turned, inverse)
        _turn_in_place(back, np.conj(turn))
        return (back,)

    return record("rotate_unit", turned, (x,), gradient)


def _beside(x: np.ndarray, turn: np.ndarray) -> np.ndarray:
    return turn.astype(np.complex128 if x.dtype == np.float64 else np.complex64, copy=False)


def _turn_in_place(x: np.ndarray, turn: np.ndarray) -> None:
    pairs = x.view(turn.dtype)
    pairs *= turn


def _turned(x: np.ndarray, turn: np.ndarray) -> np.ndarray:
    pairs: np.ndarray = _with_neighbours(x).view(turn.dtype) * turn
    return pairs.view(x.dtype)


def _with_neighbours(x: np.ndarray) -> np.ndarray:
    """The same numbers, those of a pair beside each other in memory."""
    return x if x.strides[-1] == x.itemsize else np.ascontiguousarray(x)
