"""Reads a source with recurrent layers, from the left, or from both sides."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from clearformer import ops
from clearformer.models.dropout import Dropout
from clearformer.models.pairs.memory import Lengths, Memory
from clearformer.models.part import Part
from clearformer.models.recurrent.layers import RecurrentLayer
from clearformer.models.tap import Tap, silent, under
from clearformer.tensor import Float, Int, Tensor


@dataclass(frozen=True)
class RecurrentEncoder(Part):
    """Layers one above the other.

    With layers that read backwards, each position has the sum of what both directions have made of
    it (Schuster and Paliwal, "Bidirectional Recurrent Neural Networks", 1997; the sum: Hannun et
    al., "Deep Speech", 2014, section 2).
    """

    layers: tuple[RecurrentLayer, ...]
    backwards: tuple[RecurrentLayer, ...]
    """As many, or none."""
    dropout: Dropout

    def __call__(
        self,
        x: Float[Tensor, "batch source embed"],
        lengths: Lengths = None,
        tap: Tap = silent,
        rng: np.random.Generator | None = None,
    ) -> Memory:
        """Every position, and the states in which the layers have ended."""
        order = turned(x.shape[0], x.shape[1], lengths) if self.backwards else None
        result: Any = self.dropout(x, rng)
        states: list[tuple[Any, ...]] = []
        for number, layer in enumerate(self.layers):
            told = under(tap, f"layers.{number}")
            outputs, after = layer(result, (), told, lengths)
            if order is not None:
                back = self.backwards[number]
                told = under(tap, f"backwards.{number}")
                others, ended = back(taken(result, order), (), told, lengths)
                outputs = outputs + taken(others, order)
                after = tuple(one + other for one, other in zip(after, ended, strict=True))
            result = self.dropout(outputs, rng)
            states.append(after)
        return Memory(tap("output", result), lengths, tuple(states))


def turned(batch: int, seq: int, lengths: Lengths) -> Int[np.ndarray, "batch seq"]:
    """Where each position is when every row is read backwards; what fills it up stays in place."""
    place = np.arange(seq)
    last = np.full((batch, 1), seq) if lengths is None else lengths[:, None]
    return np.where(place < last, last - 1 - place, place)


def taken(
    x: Float[Tensor, "batch seq width"], order: Int[np.ndarray, "batch seq"]
) -> Float[Tensor, "batch seq width"]:
    """The positions of each row in another order."""
    batch, seq, width = x.shape
    numbers = order + seq * np.arange(batch)[:, None]
    return ops.embed(numbers, ops.reshape(x, (batch * seq, width)))
