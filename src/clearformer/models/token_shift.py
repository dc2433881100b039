"""Token shift: each token's vector takes along a share of the vector of the token before."""

from dataclasses import dataclass
from typing import Any

from clearformer import ops
from clearformer.models.cache import KeyValueCache
from clearformer.models.part import Part
from clearformer.models.tap import Tap
from clearformer.tensor import Float, Tensor


@dataclass(frozen=True)
class TokenShift(Part):
    """x_t + share ⊙ x_{t-1}, with a learned share for each number of the vector.

    (Peng et al., "RWKV: Reinventing RNNs for the Transformer Era", 2023, section 3.1.1, where two
    neighbours are mixed before every product; here once, behind the embedding.) A pair of tokens is
    so seen in the first layer, without a head that has to learn to look one position back.
    """

    share: Float[Tensor, " embed"]

    def __call__(
        self, x: Float[Tensor, "batch seq embed"], tap: Tap, cache: KeyValueCache | None
    ) -> Float[Tensor, "batch seq embed"]:
        """Adds to each position its share of the one before; the first has none before it."""
        before = cache.newest if cache and cache.length else None
        if cache:
            rows: Any = x
            cache.newest = rows[:, -1:]
        return tap("shifted", ops.add(x, ops.multiply(ops.shift(x, before), self.share)))


@dataclass(frozen=True)
class NothingShifted(Part):
    """For models that leave it to attention."""

    def __call__(
        self, x: Float[Tensor, "batch seq embed"], tap: Tap, cache: KeyValueCache | None
    ) -> Float[Tensor, "batch seq embed"]:
        """Gives x on."""
        return x
