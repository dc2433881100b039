"""The state: what a recurrent model has kept of everything it has read."""

from collections.abc import Sequence

import numpy as np

from clearformer.engines.dispatch import array_of
from clearformer.tensor import Float, Tensor

LayerState = tuple[Float[np.ndarray, "batch hidden"], ...]
"""What one layer hands on: hidden state, and of an LSTM the cell; nothing before the first step."""


class RecurrentState:
    """For each layer what it hands on, in arrays: no gradient goes back through them.

    A call of a model reads the state and leaves the new one here; sequences that go on are given to
    the next call with the same state.
    """

    def __init__(self, layers: int):
        self.layers: list[LayerState] = [()] * layers

    def keep(self, number: int, states: Sequence[Float[Tensor, "batch hidden"]]) -> None:
        """Takes what layer `number` has come to, without its history."""
        self.layers[number] = tuple(array_of(state) for state in states)
