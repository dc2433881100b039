"""Numbers that say how well next tokens were predicted."""

from math import exp
from typing import Any

import numpy as np

from clearformer.ops import cross_entropy
from clearformer.tensor import Float, Int, Tensor


def perplexity(
    logits: Float[Tensor, "*lead vocab"], targets: Int[np.ndarray, "*lead"], ignore: int = -100
) -> float:
    """exp(mean cross-entropy): among how many equally likely tokens the model is undecided.

    Targets equal to `ignore` do not count. (Jurafsky and Martin, "Speech and Language Processing",
    3rd ed., section 3.3.)
    """
    loss: Any = cross_entropy(logits, targets, ignore)
    return perplexity_of(float(loss))


def perplexity_of(loss: float) -> float:
    """exp(loss), with the loss in nats per token."""
    return exp(min(loss, 709.0))  # beyond, no float holds it
