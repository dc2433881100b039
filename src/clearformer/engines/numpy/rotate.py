"""Turning pairs of numbers by an angle: rotary positions."""

from typing import Any

import numpy as np

from clearformer.engines.tape import record, value_of


def rotate(x: Any, turn: np.ndarray) -> Any:
    """Reads each pair (x₂ᵢ, x₂ᵢ₊₁) as one complex number and multiplies it by `turn`.

    The gradient is turned back: dL/dx = g · conj(turn).
    """
    data = value_of(x)
    turn = turn.astype(np.complex128 if data.dtype == np.float64 else np.complex64, copy=False)

    def gradient(grad: np.ndarray) -> tuple[np.ndarray]:
        return (_turned(grad, np.conj(turn)),)

    return record("rotate", _turned(data, turn), (x,), gradient)


def _turned(x: np.ndarray, turn: np.ndarray) -> np.ndarray:
    if x.strides[-1] != x.itemsize:
        x = np.ascontiguousarray(x)
    pairs: np.ndarray = x.view(turn.dtype) * turn
    return pairs.view(x.dtype)
