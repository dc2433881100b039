"""Multi-head attention: several heads look side by side, each in its own few dimensions."""

from dataclasses import dataclass

import numpy as np

from clearformer import ops
from clearformer.models.cache import LayerCache
from clearformer.models.linear import Linear, Unchanged
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
        query = ops.split_heads(self.query(x), self.heads)
        key = ops.split_heads(self.key(x), self.key_value_heads)
        value = ops.split_heads(self.value(x), self.key_value_heads)
        query = tap("query", self.positions(self.norm(query), start))
        key = tap("key", self.positions(self.norm(key), start))
        value = tap("value", value)
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

    def _is_plainly_causal(self, start: int) -> bool:
        """Whether the plain causal rule holds: queries and keys begin at the same position."""
        return self.causal and start == 0

    def _shifted_mask(self, seq: int, start: int) -> np.ndarray | None:
        """For queries that begin after `start` cached keys: the causal rule, shifted."""
        if start == 0 or seq == 1 or not self.causal:
            return None
        return np.tri(seq, start + seq, start, dtype=bool)
