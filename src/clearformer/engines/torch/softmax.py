"""Softmax, and the mask before it."""

from typing import Any

import torch
from torch import Tensor

from clearformer.engines.torch.constants import constant


def softmax(x: Tensor, axis: int = -1) -> Tensor:
    """exp(x - max) / sum; where everything is -inf zeros, and gradient zero."""
    if not x.is_floating_point():  # whole numbers have no infinity
        x = x.double()
    nothing = torch.isneginf(x).all(axis, keepdim=True)
    return x.masked_fill(nothing, 0).softmax(axis).masked_fill(nothing, 0)


def mask_scores(scores: Tensor, allowed: Any) -> Tensor:
    """The scores where looking is allowed, -inf elsewhere."""
    return torch.where(constant(allowed, scores), scores, -torch.inf)
