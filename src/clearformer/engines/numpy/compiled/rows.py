"""The compiled way through norms and bends, row by row; called like the plain one in `numpy`.

Each is one pass over the numbers in place of five to eight, and one wait for the interpreter's
lock. What comes in is float32 in one piece: see `is_in_one_piece`.
"""

from typing import Any

import numpy as np

from clearformer.engines.numpy.compiled import rows_kernel
from clearformer.engines.tape import compiled_of, record, value_of


def takes(*inputs: Any) -> bool:
    """Whether kernels are wanted, and the inputs are as they need them."""
    return compiled_of(inputs) and all(is_in_one_piece(value_of(x)) for x in inputs)


def is_in_one_piece(x: np.ndarray) -> bool:
    """Float32, number after number in memory."""
    return x.dtype == np.float32 and x.flags.c_contiguous


def norms_rows(x: Any, gain: Any) -> bool:
    """Whether `rms_norm` can be: kernels look at no index, so the gain has one number for each."""
    shape = value_of(x).shape[-1:]
    return takes(x, gain) and shape == value_of(gain).shape and shape != (0,)


def rms_norm(x: Any, gain: Any, epsilon: float) -> Any:
    """See `engines.numpy.norms.rms_norm`."""
    data, scale = value_of(x), value_of(gain)
    rows = data.reshape(-1, data.shape[-1])
    inverse, result = np.empty(len(rows), np.float32), np.empty_like(rows)
    rows_kernel.norm(rows, scale, epsilon, inverse, result)

    def gradient(grad: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        received = np.ascontiguousarray(grad).reshape(rows.shape)
        back, to_gain = np.empty_like(rows), np.zeros_like(scale)
        rows_kernel.norm_back(rows, scale, inverse, received, back, to_gain)
        return back.reshape(data.shape), to_gain

    return record("rms_norm", result.reshape(data.shape), (x, gain), gradient)


def squared_relu(x: Any) -> Any:
    """See `engines.numpy.activations.squared_relu`."""
    data = value_of(x)
    flat, result = data.reshape(-1), np.empty_like(data)
    rows_kernel.squared_relu(flat, result.reshape(-1))

    def gradient(grad: np.ndarray) -> tuple[np.ndarray]:
        back = np.empty_like(data)
        received = np.ascontiguousarray(grad).reshape(-1)
        rows_kernel.squared_relu_back(flat, received, back.reshape(-1))
        return (back,)

    return record("squared_relu", result, (x,), gradient)


def turns_heads(x: Any, turn: np.ndarray) -> bool:
    """Whether `rotate_unit` can be: heads that lie inside positions, each position with a turn."""
    data = value_of(x)
    heads = compiled_of((x,)) and data.ndim == 4 and is_in_one_piece(data.swapaxes(1, 2))
    return heads and (*turn.shape[:-1], 2 * turn.shape[-1]) == data.shape[2:]


def rotate_unit(x: Any, turn: np.ndarray, epsilon: float) -> Any:
    """See `engines.numpy.rotate.rotate_unit`."""
    inside = value_of(x).swapaxes(1, 2)
    turn = np.ascontiguousarray(turn, np.complex64).view(np.float32)
    inverse, turned = np.empty(inside.shape[:-1], np.float32), np.empty_like(inside)
    rows_kernel.unit_turned(inside, turn, epsilon, inverse, turned)

    def gradient(grad: np.ndarray) -> tuple[np.ndarray]:
        received, back = np.ascontiguousarray(grad.swapaxes(1, 2)), np.empty_like(inside)
        rows_kernel.unit_turned_back(turned, turn, inverse, received, back)
        return (back.swapaxes(1, 2),)

    return record("rotate_unit", turned.swapaxes(1, 2), (x,), gradient)
