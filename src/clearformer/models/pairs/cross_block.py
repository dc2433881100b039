"""A block of a decoder with a source: self-attention, cross-attention, feed-forward."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from clearformer import ops
from clearformer.models.attention import Attention
from clearformer.models.cache import LayerCache
from clearformer.models.dropout import Dropout
from clearformer.models.feed_forward import FeedForward, GatedFeedForward
from clearformer.models.linear import Linear, Unchanged
from clearformer.models.norms import LayerNorm, RMSNorm, UnitRMSNorm
from clearformer.models.part import Part
from clearformer.models.positions import RotaryPositions
from clearformer.models.scaled_dot_product import attend
from clearformer.models.tap import Tap, silent, under
from clearformer.tensor import Bool, Float, Tensor

KeyValue = tuple[Any, Any]
"""Keys and values of a source (batch, head, source, width)."""

There = Bool[np.ndarray, "batch 1 1 source"] | None
"""True at the positions of each source; None: all."""


@dataclass(frozen=True)
class CrossAttention(Part):
    """Queries of the target, keys and values of the source.

    (Vaswani et al., 2017, section 3.2.3.)
    """

    query: Linear | Unchanged
    key: Linear | Unchanged
    value: Linear | Unchanged
    output: Linear | Unchanged
    norm: UnitRMSNorm | Unchanged
    positions: RotaryPositions | Unchanged
    heads: int
    scale: float | None = None
    """As in `Attention`."""

    def read(self, source: Float[Tensor, "batch source embed"]) -> KeyValue:
        """What every step looks at; it is computed once."""
        key = ops.split_heads(self.key(source), self.heads)
        return self.positions(self.norm(key), 0), ops.split_heads(self.value(source), self.heads)

    def __call__(
        self,
        x: Float[Tensor, "batch target embed"],
        source: KeyValue,
        there: There = None,
        start: int = 0,
        tap: Tap = silent,
    ) -> Float[Tensor, "batch target embed"]:
        """Lets every position, the first of which is number `start`, take from the source."""
        query = ops.split_heads(self.query(x), self.heads)
        query = tap("query", self.positions(self.norm(query), start))
        key, value = tap("key", source[0]), tap("value", source[1])
        mixed = attend(query, key, value, there, False, tap, self.scale)
        return tap("output", self.output(ops.merge_heads(mixed)))


@dataclass(frozen=True)
class CrossBlock(Part):
    """Three sublayers, a norm before each (the paper has it behind)."""

    norm_1: LayerNorm | RMSNorm | Unchanged
    attention: Attention
    norm_cross: LayerNorm | RMSNorm | Unchanged
    cross: CrossAttention
    norm_2: LayerNorm | RMSNorm | Unchanged
    feed_forward: FeedForward | GatedFeedForward
    dropout: Dropout

    between_hidden: ClassVar[bool] = True

    def __call__(
        self,
        x: Float[Tensor, "batch target embed"],
        source: KeyValue,
        there: There = None,
        tap: Tap = silent,
        cache: LayerCache | None = None,
        rng: np.random.Generator | None = None,
    ) -> Float[Tensor, "batch target embed"]:
        """X + attention(norm(x)), x + cross(norm(x), source), x + feed_forward(norm(x))."""
        start = cache.length if cache else 0
        looked = self.attention(tap("norm_1", self.norm_1(x)), under(tap, "attention"), cache)
        x = tap("after_attention", x + self.dropout(looked, rng))
        normed = tap("norm_cross", self.norm_cross(x))
        found = self.cross(normed, source, there, start, under(tap, "cross"))
        x = tap("after_cross", x + self.dropout(found, rng))
        worked = self.feed_forward(tap("norm_2", self.norm_2(x)), under(tap, "feed_forward"))
        return tap("after_feed_forward", x + self.dropout(worked, rng))
