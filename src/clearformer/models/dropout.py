"""Dropout: while training, a share of the numbers is set to zero at random."""

from dataclasses import dataclass

import numpy as np

from clearformer import ops
from clearformer.models.part import Part
from clearformer.tensor import Float, Tensor


@dataclass(frozen=True)
class Dropout(Part):
    """Keeps each number with probability 1 - rate, and stretches what is kept to make up for it."""

    rate: float

    def __call__(
        self, x: Float[Tensor, "*shape"], rng: np.random.Generator | None
    ) -> Float[Tensor, "*shape"]:
        """Does nothing without a random generator: that is, outside training."""
        if rng is None or self.rate == 0:
            return x
        kept = rng.random(tuple(x.shape), np.float32) >= self.rate
        return ops.dropout(x, kept / np.float32(1 - self.rate))
