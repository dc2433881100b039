"""Changes of shape: no number changes, so the gradient only changes shape back."""

from typing import Any

import numpy as np

from clearformer.engines.bounds import check_reshape
from clearformer.engines.tape import record, record_several, value_of


def split_heads(x: Any, heads: int) -> Any:
    """(…, seq, heads·width) → (…, head, seq, width)."""
    data = value_of(x)
    *lead, seq, embed = data.shape
    split = data.reshape(*lead, seq, heads, embed // heads).swapaxes(-2, -3)
    return record("split_heads", split, (x,), lambda grad: (_merged(grad),))


def part_heads(x: Any, count: int) -> tuple[Any, ...]:
    """(…, head, seq, width) → the first `count` heads, and the others.

    The gradients are put side by side again, 0 where nothing came back.
    """
    data = value_of(x)
    sides = slice(count), slice(count, None)

    def gradient(*grads: np.ndarray | None) -> tuple[np.ndarray]:
        back = np.empty_like(data)
        for side, grad in zip(sides, grads, strict=True):
            back[..., side, :, :] = 0 if grad is None else grad
        return (back,)

    parts = [data[..., side, :, :] for side in sides]
    return record_several("part_heads", parts, (x,), gradient)


def merge_heads(x: Any) -> Any:
    """(…, head, seq, width) → (…, seq, heads·width), the heads side by side."""
    data = value_of(x)
    heads, width = data.shape[-3], data.shape[-1]

    def gradient(grad: np.ndarray) -> tuple[np.ndarray]:
        return (grad.reshape(*grad.shape[:-1], heads, width).swapaxes(-2, -3),)

    return record("merge_heads", _merged(data), (x,), gradient)


def _merged(x: np.ndarray) -> np.ndarray:
    *lead, heads, seq, width = x.shape
    return x.swapaxes(-2, -3).reshape(*lead, seq, heads * width)


def repeat_heads(x: Any, times: int) -> Any:
    """(…, head, seq, width) → (…, head·times, seq, width): each head `times` in a row.

    The gradient adds up what the copies received.
    """
    data = value_of(x)

    def gradient(grad: np.ndarray) -> tuple[np.ndarray]:
        *lead, heads, seq, width = data.shape
        return (grad.reshape(*lead, heads, times, seq, width).sum(-3),)

    return record("repeat_heads", np.repeat(data, times, axis=-3), (x,), gradient)


def transpose(x: Any) -> Any:
    """(…, a, b) → (…, b, a); the gradient goes back the same way."""
    turned = value_of(x).swapaxes(-1, -2)
    return record("transpose", turned, (x,), lambda grad: (grad.swapaxes(-1, -2),))


def shift(x: Any, before: Any = None) -> Any:
    """At each position what x has one position earlier; at the first `before`, or zeros.

    The gradient goes one position back; that of the first position belongs to `before`.
    """
    data, inputs = value_of(x), (x,) if before is None else (x, before)
    moved = np.empty_like(data)
    moved[..., 1:, :] = data[..., :-1, :]
    moved[..., :1, :] = 0 if before is None else value_of(before)
    several = len(inputs) > 1

    def gradient(grad: np.ndarray) -> tuple[np.ndarray, ...]:
        back = np.empty_like(grad)
        back[..., :-1, :] = grad[..., 1:, :]
        back[..., -1:, :] = 0
        return (back, grad[..., :1, :]) if several else (back,)

    return record("shift", moved, inputs, gradient)


def reshape(x: Any, shape: tuple[int, ...]) -> Any:
    """The same numbers in the same order, cut into other axes; the gradient back into the old."""
    data = value_of(x)
    before = data.shape
    check_reshape(before, shape)
    return record("reshape", data.reshape(shape), (x,), lambda grad: (grad.reshape(before),))
