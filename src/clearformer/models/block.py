"""One block: attention, then feed-forward, each added to what came in."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from clearformer.models.attention import Attention
from clearformer.models.cache import LayerCache
from clearformer.models.dropout import Dropout
from clearformer.models.feed_forward import FeedForward, GatedFeedForward
from clearformer.models.linear import Unchanged
from clearformer.models.norms import LayerNorm, RMSNorm
from clearformer.models.part import Part
from clearformer.models.tap import Tap, silent, under
from clearformer.tensor import Bool, Float, Tensor


@dataclass(frozen=True)
class Block(Part):
    """Pre-norm residual block, as in GPT-2 (the norm stands before each sublayer)."""

    norm_1: LayerNorm | RMSNorm | Unchanged
    attention: Attention
    norm_2: LayerNorm | RMSNorm | Unchanged
    feed_forward: FeedForward | GatedFeedForward
    dropout: Dropout

    between_hidden: ClassVar[bool] = True

    def __call__(
        self,
        x: Float[Tensor, "batch seq embed"],
        tap: Tap = silent,
        cache: LayerCache | None = None,
        rng: np.random.Generator | None = None,
        allowed: Bool[np.ndarray, "batch #head #query key"] | None = None,
    ) -> Float[Tensor, "batch seq embed"]:
        """X + attention(norm(x)), then x + feed_forward(norm(x)); `allowed` as in `Attention`."""
        normed = tap("norm_1", self.norm_1(x))
        heard = under(tap, "attention")
        if allowed is None:  # an attention of somebody's own need not know of it
            looked = self.attention(normed, heard, cache)
        else:
            looked = self.attention(normed, heard, cache, allowed)
        x = tap("after_attention", x + self.dropout(looked, rng))
        worked = self.feed_forward(tap("norm_2", self.norm_2(x)), under(tap, "feed_forward"))
        return tap("after_feed_forward", x + self.dropout(worked, rng))

    def looking_both_ways(self) -> "Block":
        """The same with attention in which every position sees all others."""
        return replace(self, attention=replace(self.attention, causal=False))
