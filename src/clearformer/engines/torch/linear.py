"""Products with matrices."""

from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.autograd import Function
from torch.nn import functional

from clearformer.engines.bounds import check_ids
from clearformer.engines.torch.constants import constant, of_type
from clearformer.engines.torch.tracing import traced

NARROW = (torch.bfloat16, torch.float16)
"""Types of 16 bits: for products; sums of many numbers are kept in float32."""


def linear(x: Any, weight: Any, bias: Any = None) -> Tensor:
    """x W + b, computed in the type of W, which is the type of the result.

    `functional.linear` takes W turned round, which is two more views to record and go back through.
    """
    x, weight = _both(x, weight)
    x = of_type(x, weight.dtype)
    if bias is None:
        return torch.matmul(x, weight)
    bias = constant(bias, weight).to(weight.dtype)
    rows = torch.addmm(bias, x.reshape(-1, weight.shape[0]), weight)
    return rows.view(*x.shape[:-1], weight.shape[1])


def linear_pair(
    x: Any, first: Any, second: Any, first_bias: Any = None, second_bias: Any = None
) -> Tensor:
    """x [W₁ | W₂] + [b₁ | b₂], in the type of the matrices."""
    like = next(each for each in (x, first, second) if isinstance(each, Tensor))
    x, first, second = (constant(each, like) for each in (x, first, second))
    biased = first_bias is not None or second_bias is not None
    if biased or first.device.type != "cpu" or first.dtype in NARROW or traced():
        sides = linear(x, first, first_bias), linear(x, second, second_bias)
        return torch.cat(sides, -1)
    rows = of_type(x, first.dtype).reshape(-1, first.shape[0])
    both: Tensor = _LinearPair.apply(rows, first, second)
    return both.view(*x.shape[:-1], both.shape[-1])


class _LinearPair(Function):  # type: ignore[misc]  # PyTorch's types are not read
    """For processors: each product is made where its result belongs, and no matrix is copied.

    The gradient is derived in `engines.numpy.linear`.
    """

    @staticmethod
    def forward(context: Any, rows: Tensor, first: Tensor, second: Tensor) -> Tensor:
        context.save_for_backward(rows, first, second)
        both = rows.new_empty(len(rows), first.shape[1] + second.shape[1])
        one, other = _sides(both, first)
        torch.mm(rows, first, out=one)
        torch.mm(rows, second, out=other)
        return both

    @staticmethod
    def backward(context: Any, grad: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        rows, first, second = context.saved_tensors
        one, other = _sides(grad, first)
        to_rows = torch.mm(one, first.t())
        torch.addmm(to_rows, other, second.t(), out=to_rows)
        turned = rows.t()
        return to_rows, torch.mm(turned, one), torch.mm(turned, other)


def _sides(both: Tensor, first: Tensor) -> tuple[Tensor, Tensor]:
    cut = first.shape[1]
    return both[:, :cut], both[:, cut:]


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
