"""Scaled dot-product attention as one operation, for speed: nobody sees the weights.

`models.scaled_dot_product.steps` is the same computation one step at a time; a test holds them
equal.
"""

from collections.abc import Callable
from math import sqrt
from typing import Any

import numpy as np

from clearformer.engines.numpy.attention_in_tiles import attend_in_tiles, tiles_pay
from clearformer.engines.numpy.attention_whole import attend_whole
from clearformer.engines.numpy.compiled.choice import is_compiled
from clearformer.engines.tape import Gradient, TapeTensor, compiled_of, record, value_of

Attend = Callable[
    [np.ndarray, np.ndarray, np.ndarray, np.ndarray | None, bool, float],
    tuple[np.ndarray, Gradient],
]
"""Query, key, value, mask, causal, scale: the result, and what its gradient gives them."""

PLAIN = 1.5e11
"""Multiplications and additions in a second, about, of attention in plain NumPy."""


def attention(
    query: Any,
    key: Any,
    value: Any,
    *,
    mask: np.ndarray | None = None,
    causal: bool = False,
    scale: float | None = None,
) -> Any:
    """softmax(scale · Q Kᵀ) V: with the whole table while that is small, else tile by tile."""
    inputs = query, key, value
    q, k, v = map(value_of, inputs)
    factor = 1 / sqrt(q.shape[-1]) if scale is None else float(scale)
    attend: Attend = attend_in_tiles if tiles_pay(q, k, v) else attend_whole
    if _wants_kernels(inputs, 4 * q.size * k.shape[-2]):
        from clearformer.engines.numpy.compiled import attention as compiled_way

        if compiled_way.takes(q, k, v, mask, causal):
            attend = compiled_way.attend
    mixed, gradient = attend(q, k, v, mask, causal, factor)
    return record("attention", mixed, inputs, gradient)


def _wants_kernels(inputs: tuple[Any, ...], operations: int) -> bool:
    """As all operations; and where nothing is recorded, if this call alone is worth it."""
    if compiled_of(inputs) or any(type(x) is TapeTensor for x in inputs):
        return compiled_of(inputs)
    return is_compiled(operations / PLAIN)
