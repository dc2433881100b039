"""From token ids to vectors, and back from vectors to scores over the vocabulary."""

from dataclasses import dataclass
from math import sqrt
from typing import TypeAlias

import numpy as np

from clearformer import ops
from clearformer.models.linear import Linear
from clearformer.models.part import Part
from clearformer.tensor import Float, Int, Tensor


@dataclass(frozen=True)
class Embedding(Part):
    """One learned row per token."""

    table: Float[Tensor, "vocab embed"]

    def __call__(self, ids: Int[Tensor, "*lead"]) -> Float[Tensor, "*lead embed"]:
        """Looks up the row of each id."""
        return ops.embed(ids, self.table)


@dataclass(frozen=True)
class ScaledEmbedding(Part):
    """One learned row per token, times √embed (Vaswani et al., 2017, section 3.4).

    The rows start small, as the tied output layer wants them; the factor brings them to the size of
    the positions that are added next.
    """

    table: Float[Tensor, "vocab embed"]

    def __call__(self, ids: Int[Tensor, "*lead"]) -> Float[Tensor, "*lead embed"]:
        """Looks up the row of each id and stretches it."""
        return ops.multiply(ops.embed(ids, self.table), sqrt(self.table.shape[-1]))


@dataclass(frozen=True)
class TiedOutput(Part):
    """Scores each token by the product with its own embedding row (Press and Wolf, 2017)."""

    def __call__(
        self, x: Float[Tensor, "*lead embed"], embedding: Embedding | ScaledEmbedding
    ) -> Float[Tensor, "*lead vocab"]:
        """Logits over the vocabulary."""
        return ops.linear(x, ops.transpose(embedding.table))


@dataclass(frozen=True)
class TiedOutputWithoutMask(Part):
    """The same for a table with one row more, that of the mask, which is never an answer."""

    vocabulary: int

    def __call__(
        self, x: Float[Tensor, "*lead embed"], embedding: Embedding | ScaledEmbedding
    ) -> Float[Tensor, "*lead vocab"]:
        """Logits over the vocabulary."""
        rows = ops.embed(np.arange(self.vocabulary), embedding.table)
        return ops.linear(x, ops.transpose(rows))


@dataclass(frozen=True)
class UntiedOutput(Part):
    """Scores each token with a matrix of its own."""

    linear: Linear

    def __call__(
        self, x: Float[Tensor, "*lead embed"], embedding: Embedding | ScaledEmbedding
    ) -> Float[Tensor, "*lead vocab"]:
        """Logits over the vocabulary; the embedding is not used."""
        return self.linear(x)


Output: TypeAlias = TiedOutput | TiedOutputWithoutMask | UntiedOutput
"""Whatever gives the scores."""
