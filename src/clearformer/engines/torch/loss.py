"""What training makes small."""

from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from clearformer.engines.bounds import check_answers, counted_targets
from clearformer.engines.torch.constants import constant


def cross_entropy(logits: Tensor, targets: Any, ignore: int = -100) -> Tensor:
    """Mean of -log softmax(logits)[target], in nats, computed in float32 at least."""
    if not logits.is_floating_point():
        logits = logits.double()
    elif logits.dtype != torch.float64:
        logits = logits.float()
    if isinstance(targets, Tensor):
        count: Any = (targets != ignore).sum().clamp(min=1)
    else:
        targets = np.asarray(targets)
        count = max(int(counted_targets(targets, tuple(logits.shape), ignore).sum()), 1)
        targets = constant(targets.astype(np.int64, copy=False), logits)
    rows = logits.reshape(-1, logits.shape[-1])
    total = functional.cross_entropy(
        rows, targets.reshape(-1), ignore_index=ignore, reduction="sum"
    )
    return total / count


def logistic_loss(logits: Tensor, targets: Any, weights: Any = None) -> Tensor:
    """Weighted mean of -log σ(±x), in nats, computed in float32 at least."""
    if not logits.is_floating_point():
        logits = logits.double()
    elif logits.dtype != torch.float64:
        logits = logits.float()
    if not isinstance(targets, Tensor):
        targets = np.asarray(targets)
        check_answers(targets, weights, tuple(logits.shape))
        targets = constant(targets, logits)
    signed = torch.where(targets, logits, -logits)
    if weights is None:
        return -functional.logsigmoid(signed).sum() / max(logits.numel(), 1)
    weights = constant(weights, logits).to(logits.dtype)
    losses = -functional.logsigmoid(signed.masked_fill(weights == 0, 0)) * weights
    total = weights.sum()
    return losses.sum() / torch.where(total == 0, 1, total)
