"""The decoder: a Transformer that predicts the next token from those before it."""

from dataclasses import dataclass

import numpy as np

from clearformer.models.cache import KeyValueCache
from clearformer.models.stack import Stack
from clearformer.models.tap import Tap, silent
from clearformer.tensor import Float, Int, Tensor


@dataclass(frozen=True)
class Decoder(Stack):
    """Blocks in which no position sees those after it."""

    def __call__(
        self,
        ids: Int[Tensor, "batch seq"],
        tap: Tap = silent,
        cache: KeyValueCache | None = None,
        rng: np.random.Generator | None = None,
    ) -> Float[Tensor, "batch seq vocab"]:
        """The scores of every token as the next one, at each position.

        Args:
            ids: token ids; with a cache, those that follow the ones already held.
            tap: hears, and may replace, every intermediate.
            cache: keys and values of the positions before; extended by this call.
            rng: draws dropout; None outside training.
        """
        return self.from_vectors(tap("embedding", self.embedding(ids)), tap, cache, rng)
