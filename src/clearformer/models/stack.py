"""Blocks between an embedding and the scores: what decoder and encoder have in common."""

from dataclasses import dataclass

import numpy as np

from clearformer.models.block import Block
from clearformer.models.cache import KeyValueCache
from clearformer.models.dropout import Dropout
from clearformer.models.embedding import Embedding, Output, ScaledEmbedding
from clearformer.models.linear import Unchanged
from clearformer.models.norms import LayerNorm, RMSNorm
from clearformer.models.part import Part
from clearformer.models.positions import NothingAdded, SinusoidalPositions
from clearformer.models.tap import Tap, silent, under
from clearformer.models.token_shift import NothingShifted, TokenShift
from clearformer.tensor import Float, Tensor


@dataclass(frozen=True)
class Stack(Part):
    """Embedding, token shift, positions, blocks, norm, logits."""

    embedding: Embedding | ScaledEmbedding
    shift: TokenShift | NothingShifted
    positions: SinusoidalPositions | NothingAdded
    blocks: tuple[Block, ...]
    norm: LayerNorm | RMSNorm | Unchanged
    output: Output
    dropout: Dropout

    def from_vectors(
        self,
        x: Float[Tensor, "batch seq embed"],
        tap: Tap = silent,
        cache: KeyValueCache | None = None,
        rng: np.random.Generator | None = None,
    ) -> Float[Tensor, "batch seq vocab"]:
        """The scores from the vectors of the embedding on: their gradient can be asked for."""
        start = cache.length if cache else 0
        x = self.shift(x, tap, cache)
        x = self.positions(x, start, tap)
        x = self.dropout(x, rng)
        for number, block in enumerate(self.blocks):
            layer = cache.layers[number] if cache else None
            x = block(x, under(tap, f"blocks.{number}"), layer, rng)
        return tap("logits", self.output(tap("norm", self.norm(x)), self.embedding))
