"""Builds a decoder from its configuration, with fresh random weights."""

from collections.abc import Callable
from math import sqrt
from typing import Any

import numpy as np

from clearformer import ops
from clearformer.models.attention import Attention
from clearformer.models.block import Block
from clearformer.models.configuration import ModelConfiguration
from clearformer.models.decoder import Decoder
from clearformer.models.dropout import Dropout
from clearformer.models.embedding import Embedding, ScaledEmbedding, TiedOutput, UntiedOutput
from clearformer.models.feed_forward import FeedForward, GatedFeedForward
from clearformer.models.linear import Linear, Unchanged
from clearformer.models.norms import LayerNorm, RMSNorm, UnitRMSNorm
from clearformer.models.positions import NothingAdded, RotaryPositions, SinusoidalPositions
from clearformer.models.token_shift import NothingShifted, TokenShift

ACTIVATIONS: dict[str, Callable[[Any], Any]] = {
    "gelu": ops.gelu,
    "squared_relu": ops.squared_relu,
}


def build_decoder(
    configuration: ModelConfiguration, rng: np.random.Generator | None, dtype: Any = np.float32
) -> Decoder:
    """A decoder with fresh weights, the same for the same generator; all zero without one.

    Matrices that read the residual stream are drawn from a normal distribution with deviation
    1/√input, which keeps the size of what passes through. Those that write to it start at zero
    (modern; Zhang et al., "Fixup", 2019) or are shrunk by √(2·layers) (classic; GPT-2, 2019,
    section 2.3), so that at the start each block changes little.
    """
    return _Builder(configuration.completed, rng, dtype).decoder()


class _Builder:
    def __init__(
        self, configuration: ModelConfiguration, rng: np.random.Generator | None, dtype: Any
    ):
        self.c = configuration
        self.rng = rng
        self.dtype = dtype

    def decoder(self) -> Decoder:
        c = self.c
        waves = c.positions == "sinusoidal"
        spread = 1 / sqrt(c.embed) if waves else 1.0
        if c.tied and not waves:  # a token's own logit is embed · spread: it begins near 1
            spread = 1 / c.embed
        table = self._normal(c.vocabulary, c.embed, spread)
        return Decoder(
            embedding=ScaledEmbedding(table) if waves or c.tied else Embedding(table),
            shift=self._shift(),
            positions=SinusoidalPositions(c.context) if waves else NothingAdded(),
            blocks=tuple(self._block() for _ in range(c.layers)),
            norm=self._norm(),
            output=TiedOutput() if c.tied else UntiedOutput(self._output()),
            dropout=Dropout(float(c.dropout)),  # one of NumPy would be taken for a weight
        )

    def _shift(self) -> TokenShift | NothingShifted:
        """It begins without a share."""
        if not self.c.token_shift:
            return NothingShifted()
        return TokenShift(np.zeros(self.c.embed, self.dtype))

    def _block(self) -> Block:
        return Block(
            norm_1=self._norm(),
            attention=self._attention(),
            norm_2=self._norm(),
            feed_forward=self._feed_forward(),
            dropout=Dropout(float(self.c.dropout)),
        )

    def _attention(self) -> Attention:
        c = self.c
        shared = c.embed // c.heads * (c.key_value_heads or c.heads)
        return Attention(
            query=self._reading(c.embed, c.embed),
            key=self._reading(c.embed, shared),
            value=self._reading(c.embed, shared),
            output=self._writing(c.embed, c.embed),
            norm=UnitRMSNorm() if c.query_key_norm else Unchanged(),
            positions=RotaryPositions(c.context) if c.positions == "rotary" else Unchanged(),
            heads=c.heads,
            key_value_heads=c.key_value_heads or c.heads,
            scale=self._scale(),
        )

    def _scale(self) -> float | None:
        """Normalised, a query and a key of the same direction have the product `width`."""
        c = self.c
        if not c.query_key_norm or c.largest_score is None:
            return None
        return float(c.largest_score) * c.heads / c.embed

    def _feed_forward(self) -> FeedForward | GatedFeedForward:
        c = self.c
        hidden = c.hidden or 4 * c.embed
        expand, project = self._reading(c.embed, hidden), self._writing(hidden, c.embed)
        if c.activation == "swiglu":
            return GatedFeedForward(self._reading(c.embed, hidden), expand, project)
        return FeedForward(expand, project, ACTIVATIONS[c.activation or "gelu"])

    def _norm(self) -> LayerNorm | RMSNorm:
        gain = np.ones(self.c.embed, self.dtype)
        if self.c.norm == "rms":
            return RMSNorm(gain)
        return LayerNorm(gain, np.zeros(self.c.embed, self.dtype))

    def _reading(self, inputs: int, outputs: int) -> Linear:
        return Linear(self._normal(inputs, outputs, 1 / sqrt(inputs)), self._bias(outputs))

    def _writing(self, inputs: int, outputs: int) -> Linear:
        if self.c.recipe == "modern":
            return Linear(np.zeros((inputs, outputs), self.dtype), self._bias(outputs))
        spread = 1 / sqrt(inputs * 2 * self.c.layers)
        return Linear(self._normal(inputs, outputs, spread), self._bias(outputs))

    def _output(self) -> Linear:
        c = self.c
        if c.recipe == "modern":
            return Linear(np.zeros((c.embed, c.vocabulary), self.dtype))
        return Linear(self._normal(c.embed, c.vocabulary, 1 / c.embed))

    def _bias(self, outputs: int) -> np.ndarray | None:
        return np.zeros(outputs, self.dtype) if self.c.bias else None

    def _normal(self, rows: int, columns: int, spread: float) -> np.ndarray:
        if self.rng is None:
            return np.zeros((rows, columns), self.dtype)
        drawn = self.rng.standard_normal((rows, columns), np.float32)
        drawn *= np.float32(spread)
        return drawn.astype(self.dtype, copy=False)
