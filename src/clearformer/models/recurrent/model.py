"""The recurrent language model: it predicts the next token from a state of fixed size."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from clearformer.models.dropout import Dropout
from clearformer.models.embedding import Embedding, ScaledEmbedding, TiedOutput, UntiedOutput
from clearformer.models.linear import Linear, Unchanged
from clearformer.models.part import Part
from clearformer.models.recurrent.layers import RecurrentLayer
from clearformer.models.recurrent.state import RecurrentState
from clearformer.models.tap import Tap, silent, under
from clearformer.tensor import Float, Int, Tensor

OUTSIDE = 0.25
"""Parameters outside of the layers, as a share of those inside, up to which a batch may be computed
in one piece. With 4,096 tokens the output alone took as long as two layers: docs/log.md."""


@dataclass(frozen=True)
class RecurrentModel(Part):
    """Embedding, recurrent layers, logits (Mikolov et al., 2010).

    Dropout falls on what goes from layer to layer, never on what goes from step to step (Zaremba et
    al., "Recurrent Neural Network Regularization", 2014).
    """

    embedding: Embedding | ScaledEmbedding
    layers: tuple[RecurrentLayer, ...]
    projection: Linear | Unchanged
    """From the width of the state to that of the embedding, where the output is tied to it."""
    output: TiedOutput | UntiedOutput
    dropout: Dropout

    @property
    def in_one_piece(self) -> bool:
        """Where a layer is, and little is done outside the layers: helpers have no part in that."""
        inside = sum(layer.parameter_count() for layer in self.layers)
        little = self.parameter_count() - inside <= OUTSIDE * inside
        return little and any(layer.in_one_piece for layer in self.layers)

    def __call__(
        self,
        ids: Int[Tensor, "batch seq"],
        tap: Tap = silent,
        state: RecurrentState | None = None,
        rng: np.random.Generator | None = None,
    ) -> Float[Tensor, "batch seq vocab"]:
        """The scores of every token as the next one, at each position.

        Args:
            ids: token ids; with a state, those that follow the ones already read.
            tap: hears, and may replace, every intermediate.
            state: what was kept of the tokens before; renewed by this call.
            rng: draws dropout; None outside training.
        """
        return self.from_vectors(tap("embedding", self.embedding(ids)), tap, state, rng)

    def from_vectors(
        self,
        x: Float[Tensor, "batch seq embed"],
        tap: Tap = silent,
        state: RecurrentState | None = None,
        rng: np.random.Generator | None = None,
    ) -> Float[Tensor, "batch seq vocab"]:
        """The same from the vectors of the embedding on: their gradient can be asked for."""
        result: Any = self.dropout(x, rng)
        for number, layer in enumerate(self.layers):
            before = state.layers[number] if state else ()
            result, after = layer(result, before, under(tap, f"layers.{number}"))
            if state:
                state.keep(number, after)
            result = self.dropout(result, rng)
        projected = tap("projected", self.projection(result))
        return tap("logits", self.output(projected, self.embedding))
