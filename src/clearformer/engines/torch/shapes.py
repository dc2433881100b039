"""Changes of shape: no number changes."""

import torch
from torch import Tensor

from clearformer.engines.bounds import check_reshape


def split_heads(x: Tensor, heads: int) -> Tensor:
    """(…, seq, heads·width) → (…, head, seq, width)."""
    *lead, seq, embed = x.shape
    return x.reshape(*lead, seq, heads, embed // heads).transpose(-2, -3)


def part_heads(x: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """(…, head, seq, width) → the first `count` heads, and the others."""
    first, rest = x.split([count, x.shape[-3] - count], -3)
    return first, rest


def merge_heads(x: Tensor) -> Tensor:
    """(…, head, seq, width) → (…, seq, heads·width), the heads side by side."""
    return x.transpose(-2, -3).flatten(-2)


def repeat_heads(x: Tensor, times: int) -> Tensor:
    """(…, head, seq, width) → (…, head·times, seq, width): each head `times` in a row."""
    return x.repeat_interleave(times, -3)


def transpose(x: Tensor) -> Tensor:
    """(…, a, b) → (…, b, a)."""
    return x.transpose(-1, -2)


def shift(x: Tensor, before: Tensor | None = None) -> Tensor:
    """At each position what x has one position earlier; at the first `before`, or zeros."""
    first = torch.zeros_like(x[..., :1, :]) if before is None else before
    return torch.cat((first, x[..., :-1, :]), -2)


def reshape(x: Tensor, shape: tuple[int, ...]) -> Tensor:
    """The same numbers in the same order, cut into other axes."""
    check_reshape(x.shape, shape)
    return x.reshape(shape)
