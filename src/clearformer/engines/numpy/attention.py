"""Scaled dot-product attention as one operation, for speed: nobody sees the weights.

`models.scaled_dot_product.steps` is the same computation one step at a time; a test holds them
equal.
"""

from math import sqrt
from typing import Any

import numpy as np

from clearformer.engines.numpy.attention_in_tiles import attend_in_tiles, tiles_pay
from clearformer.engines.numpy.attention_whole import attend_whole
from clearformer.engines.tape import record, value_of


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
    q, k, v = value_of(query), value_of(key), value_of(value)
    factor = 1 / sqrt(q.shape[-1]) if scale is None else float(scale)
    attend = attend_in_tiles if tiles_pay(q, k, v) else attend_whole
    mixed, gradient = attend(q, k, v, mask, causal, factor)
    return record("attention", mixed, (query, key, value), gradient)
