"""What training makes small."""

from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from clearformer.engines.bounds import counted_targets
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
