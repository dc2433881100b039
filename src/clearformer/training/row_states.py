"""The state of every row of a batch, from one batch to the next."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from clearformer.engines.copied import leave, may_be_left
from clearformer.engines.shared import shared_zeros
from clearformer.models.recurrent.configuration import RecurrentConfiguration
from clearformer.models.recurrent.state import RecurrentState
from clearformer.tensor import Bool, Int


class RowStates:
    """What a recurrent model has kept of the text in each row so far; zeros before the start.

    Threads or processes that share a batch take and return the states of different rows, so none
    waits for another.

    Args:
        configuration: of the model.
        rows: of a whole batch, those of all processes.
        mine: those that this process reads.
    """

    def __init__(self, configuration: RecurrentConfiguration, rows: int, mine: range):
        shape = rows, configuration.completed.hidden or 0
        self._layers, self._mine = configuration.layers, mine
        self._arrays = {
            (layer, name): shared_zeros(shape, np.float32)
            for layer in range(configuration.layers)
            for name in configuration.states
        }
        self._names = configuration.states
        may_be_left(self)

    def of(
        self, numbers: Int[np.ndarray, " batch"], begins: Bool[np.ndarray, " batch"]
    ) -> RecurrentState:
        """The state of these rows, in arrays of its own; zeros where a row begins."""
        state = RecurrentState(self._layers)
        for layer in range(self._layers):
            taken = [self._arrays[layer, name][numbers] for name in self._names]
            for array in taken:
                array[begins] = 0
            state.keep(layer, taken)
        return state

    def keep(self, numbers: Int[np.ndarray, " batch"], state: RecurrentState) -> None:
        """Takes what these rows have come to; from a copy of the process, when it has answered."""
        leave(self, numbers, state.layers)

    def take(self, *what: Any) -> None:
        """Numbers of rows, and the states of each layer (see `leave`)."""
        numbers, layers = what
        for layer, states in enumerate(layers):
            for name, array in zip(self._names, states, strict=True):
                self._arrays[layer, name][numbers] = array

    def named(self) -> dict[str, np.ndarray]:
        """Copies for a save, with zeros in the rows of other processes."""
        found = {}
        for (layer, name), array in self._arrays.items():
            found[_path(layer, name)] = np.zeros_like(array)
            found[_path(layer, name)][self._mine.start : self._mine.stop] = array[
                self._mine.start : self._mine.stop
            ]
        return found

    def put(self, named: Mapping[str, np.ndarray]) -> None:
        """Takes back what `named` gave, added up over all processes.

        Raises:
            ValueError: it is that of another model or batch.
        """
        kinds = {_path(*place): (a.shape, a.dtype) for place, a in self._arrays.items()}
        if kinds != {name: (array.shape, array.dtype) for name, array in named.items()}:
            raise ValueError("the states are those of another model or batch")
        for place, array in self._arrays.items():
            array[:] = named[_path(*place)]


def _path(layer: int, name: str) -> str:
    return f"layers.{layer}.{name}"
