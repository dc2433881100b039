"""Multi-head attention: several heads look side by side, each in its own few dimensions."""

from dataclasses import dataclass

import numpy as np

from clearformer import ops
from clearformer.models.cache import LayerCache
from clearformer.models.linear import Linear, Unchanged, pair
from clearformer.models.norms import UnitRMSNorm
from clearformer.models.part import Part
from clearformer.models.positions import RotaryPositions
from clearformer.models.scaled_dot_product import attend
from clearformer.models.tap import Tap, silent
from clearformer.tensor import Bool, Float, Tensor


@dataclass(frozen=True)
class Attention(Part):
    """Concat(head_1, …, head_h) W_O (Vaswani et al., 2017, section 3.2.2).

    With fewer key–value heads than heads, neighbouring heads share keys and values (Ainslie et al.,
    "GQA", 2023).
    """

    query: Linear | Unchanged
    key: Linear | Unchanged
    value: Linear | Unchanged
    output: Linear | Unchanged
    norm: UnitRMSNorm | Unchanged
    positions: RotaryPositions | Unchanged
    heads: int
    key_value_heads: int
    causal: bool = True
    scale: float | None = None
    """What products are multiplied by to be scores; None: 1/√width."""

    def __call__(
        self,
        x: Float[Tensor, "batch seq embed"],
        tap: Tap = silent,
        cache: LayerCache | None = None,
        allowed: Bool[np.ndarray, "batch #head #query key"] | None = None,
    ) -> Float[Tensor, "batch seq embed"]:
        """Lets every position take from those it may see (with a cache: from those before, too).

        `allowed` is True where there is something to look at: not where a row is filled up.
        """
        start = cache.length if cache else 0
        query, key = self._queries_and_keys(x, start)
        query, key = tap("query", query), tap("key", key)
        value = tap("value", ops.split_heads(self.value(x), self.key_value_heads))
        if cache:
            key, value = cache.extend(key, value)
        if self.key_value_heads != self.heads:
            shared_by = self.heads // self.key_value_heads
            key, value = ops.repeat_heads(key, shared_by), ops.repeat_heads(value, shared_by)
        mixed = attend(
            query,
            key,
            value,
            self._shifted_mask(x.shape[-2], start) if allowed is None else allowed,
            self._is_plainly_causal(start),
            tap,
            self.scale,
        )
        return tap("output", self.output(ops.merge_heads(mixed)))

    def _queries_and_keys(
        self, x: Float[Tensor, "batch seq embed"], start: int
    ) -> tuple[
        Float[Tensor, "batch head seq width"], Float[Tensor, "batch key_value_head seq width"]
    ]:
        """Projected, cut into heads, normalised and turned.

        Both at once where both are plain linear layers, which is half of the calls.
        """
        if type(self.query) is type(self.key) is Linear:
            both = ops.split_heads(pair(self.query, self.key, x), self.heads + self.key_value_heads)
            return ops.part_heads(self._placed(both, start), self.heads)
        query = ops.split_heads(self.query(x), self.heads)
        key = ops.split_heads(self.key(x), self.key_value_heads)
        return self._placed(query, start), self._placed(key, start)

    def _placed(
        self, x: Float[Tensor, "batch head seq width"], start: int
    ) -> Float[Tensor, "batch head seq width"]:
        """Normalised and turned, in one operation where the recipe has both."""
        if type(self.norm) is UnitRMSNorm and type(self.positions) is RotaryPositions:
            return self.positions.of_unit(x, start)
        return self.positions(self.norm(x), start)

    def _is_plainly_causal(self, start: int) -> bool:
        """Whether the plain causal rule holds: queries and keys begin at the same position."""
        return self.causal and start == 0

    def _shifted_mask(self, seq: int, start: int) -> np.ndarray | None:
        """For queries that begin after `start` cached keys: the causal rule, shifted."""
        if start == 0 or seq == 1 or not self.causal:
            return None
        return np.tri(seq, start + seq, start, dtype=bool)
