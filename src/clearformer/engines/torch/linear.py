"""Products with matrices."""

from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from clearformer.engines.bounds import check_ids
from clearformer.engines.torch.constants import constant

NARROW = (torch.bfloat16, torch.float16)
"""Types of 16 bits: for products; sums of many numbers are kept in float32."""


def linear(x: Any, weight: Any, bias: Any = None) -> Tensor:
    """x W + b, computed in the type of W, which is the type of the result.

    `functional.linear` takes W turned round, which is two more views to record and go back through.
    """
    x, weight = _both(x, weight)
    x = x.to(weight.dtype)
    if bias is None:
        return torch.matmul(x, weight)
    bias = constant(bias, weight).to(weight.dtype)
    rows = torch.addmm(bias, x.reshape(-1, weight.shape[0]), weight)
    return rows.view(*x.shape[:-1], weight.shape[1])


def matmul(left: Any, right: Any) -> Tensor:
    """A B on the last two axes, in the wider of their types."""
    left, right = _both(left, right)
    if left.dtype != right.dtype:
        wider = torch.promote_types(left.dtype, right.dtype)
        left, right = left.to(wider), right.to(wider)
    return torch.matmul(left, right)


def _both(a: Any, b: Any) -> tuple[Tensor, Tensor]:
    return (constant(a, b), b) if isinstance(b, Tensor) else (a, constant(b, a))


def embed(ids: Any, table: Tensor) -> Tensor:
    """E[ids]; the rows of a narrow table as float32, and so are their gradients added up."""
    if not isinstance(ids, Tensor):
        ids = np.asarray(ids)
        check_ids(ids, len(table))
        ids = constant(ids.astype(np.int64, copy=False), table)
    if table.dtype not in NARROW:
        return functional.embedding(ids, table)
    if table.requires_grad and torch.is_grad_enabled():
        return functional.embedding(ids, table.float())
    return functional.embedding(ids, table).float()
