"""The loss of the next token."""

from typing import Any

import numpy as np

from clearformer import ops
from clearformer.tensor import Int, Tensor


def next_token_loss(
    model: Any,
    inputs: Int[Tensor, "batch seq"],
    targets: Int[Tensor, "batch seq"],
    rng: np.random.Generator | None = None,
) -> Any:
    """Mean cross-entropy of the token that follows each position, in nats per token."""
    return ops.cross_entropy(model(inputs, rng=rng), targets)
