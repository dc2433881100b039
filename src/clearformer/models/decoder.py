"""The decoder: a Transformer that predicts the next token from those before it."""

from dataclasses import dataclass

import numpy as np

from clearformer.models.block import Block
from clearformer.models.cache import KeyValueCache
from clearformer.models.dropout import Dropout
from clearformer.models.embedding import Embedding, ScaledEmbedding, TiedOutput, UntiedOutput
from clearformer.models.linear import Unchanged
from clearformer.models.norms import LayerNorm, RMSNorm
from clearformer.models.part import Part
from clearformer.models.positions import NothingAdded, SinusoidalPositions
from clearformer.models.tap import Tap, silent, under
from clearformer.tensor import Float, Int, Tensor


@dataclass(frozen=True)
class Decoder(Part):
    """Embedding, positions, blocks, norm, logits."""

    embedding: Embedding | ScaledEmbedding
    positions: SinusoidalPositions | NothingAdded
    blocks: tuple[Block, ...]
    norm: LayerNorm | RMSNorm | Unchanged
    output: TiedOutput | UntiedOutput
    dropout: Dropout

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

    def from_vectors(
        self,
        x: Float[Tensor, "batch seq embed"],
        tap: Tap = silent,
        cache: KeyValueCache | None = None,
        rng: np.random.Generator | None = None,
    ) -> Float[Tensor, "batch seq vocab"]:
        """The same from the vectors of the embedding on: their gradient can be asked for."""
        start = cache.length if cache else 0
        x = self.positions(x, start, tap)
        x = self.dropout(x, rng)
        for number, block in enumerate(self.blocks):
            layer = cache.layers[number] if cache else None
            x = block(x, under(tap, f"blocks.{number}"), layer, rng)
        return tap("logits", self.output(tap("norm", self.norm(x)), self.embedding))
