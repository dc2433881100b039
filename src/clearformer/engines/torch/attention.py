"""Scaled dot-product attention as one operation of PyTorch's."""

from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from clearformer.engines.bounds import check_mask
from clearformer.engines.mask import allowed_positions
from clearformer.engines.torch.arrays import to_array
from clearformer.engines.torch.constants import constant, of_type
from clearformer.engines.torch.linear import NARROW


def attention(
    query: Any,
    key: Any,
    value: Any,
    *,
    mask: np.ndarray | None = None,
    causal: bool = False,
    scale: float | None = None,
) -> Tensor:
    """softmax(scale · Q Kᵀ) V, by whichever kernel PyTorch has for the device and the shapes.

    Types of 16 bits are computed in float32 on a processor, whose kernels for them are slower.
    """
    query, key, value = _together(query, key, value)
    dtype = query.dtype
    if dtype in NARROW and query.device.type == "cpu":
        query, key, value = query.float(), key.float(), value.float()
    factor = None if scale is None else float(scale)
    if isinstance(mask, Tensor):
        mask = to_array(mask)
    rows, columns = int(query.shape[-2]), int(key.shape[-2])  # also where sizes are symbols
    allowed = None if mask is None else allowed_positions(rows, columns, mask, causal)
    if allowed is None:
        mixed = scaled_dot_product_attention(query, key, value, is_causal=causal, scale=factor)
    else:
        mixed = _where_allowed(query, key, value, np.atleast_2d(allowed), factor)
    return of_type(mixed, dtype)


def _where_allowed(
    query: Tensor, key: Tensor, value: Tensor, allowed: np.ndarray, factor: float | None
) -> Tensor:
    """Attention by a table.

    Kernels differ in what they give for a query that may look nowhere, and a gradient of NaN cannot
    be multiplied away: so it looks everywhere, and what it finds is put away. A key that nobody may
    see is made zero, so that it stays out even if it is not a number.
    """
    lead = np.broadcast_shapes(query.shape[:-2], key.shape[:-2])
    check_mask(allowed.shape, (*lead, query.shape[-2], key.shape[-2]))
    unseen = np.expand_dims(~allowed.any(-2), -1)
    if unseen.any():
        key = torch.where(constant(unseen, key), 0, key)
    blind = ~allowed.any(-1, keepdims=True)
    if not blind.any():
        table = constant(allowed, query)
        return scaled_dot_product_attention(query, key, value, table, scale=factor)
    table = constant(allowed | blind, query)
    mixed = scaled_dot_product_attention(query, key, value, table, scale=factor)
    return mixed.masked_fill(constant(blind, query), 0)


def _together(*tensors: Any) -> tuple[Tensor, ...]:
    """The three as tensors of one type, the widest."""
    like = next(x for x in tensors if isinstance(x, Tensor))
    made = tuple(constant(x, like) for x in tensors)
    wider = like.dtype
    for x in made:
        wider = torch.promote_types(wider, x.dtype)
    return tuple(of_type(x, wider) for x in made)
