"""What an encoder hands to a decoder, and what a decoder keeps from step to step."""

from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np

from clearformer.models.tap import Tap, silent
from clearformer.tensor import Bool, Float, Int, Tensor

Lengths = Int[np.ndarray, " batch"] | None
"""Positions that are there in each row; None for all."""

States = tuple[tuple[Any, ...], ...]
"""Of each recurrent layer the states (batch, hidden) that it hands on."""


@dataclass(frozen=True, eq=False)
class Memory:
    """A source that was read."""

    outputs: Float[Tensor, "batch source width"]
    """What was made of each position."""
    lengths: Lengths = None
    states: States = ()
    """In which the layers of a recurrent encoder have ended."""

    def take(self, rows: Int[np.ndarray, " rows"]) -> "Memory":
        """That of some of the sources, each perhaps several times; of arrays, not on a tape."""
        outputs: Any = self.outputs
        lengths = None if self.lengths is None else self.lengths[rows]
        states = tuple(tuple(state[rows] for state in layer) for layer in self.states)
        return Memory(outputs[rows], lengths, states)

    @property
    def there(self) -> Bool[np.ndarray, "batch 1 source"] | None:
        """True at the positions of each source, False where its row is filled up; None: all."""
        if self.lengths is None:
            return None
        found: np.ndarray = np.arange(self.outputs.shape[1]) < self.lengths[:, None]
        return found[:, None]


def padded(lengths: Lengths, longest: int) -> Lengths:
    """The lengths, or None where every row is as long as the longest."""
    return None if lengths is None or (lengths == longest).all() else lengths


@runtime_checkable
class DecodingState(Protocol):
    """What the next step of a decoder needs of the steps before, and of the source."""

    def take(self, rows: Int[np.ndarray, " rows"]) -> None:
        """Goes on with some of the rows, each perhaps several times."""


@runtime_checkable
class PairModel(Protocol):
    """What training, search and explanation use of a model."""

    @property
    def vocabulary(self) -> int:
        """Tokens without the marks."""

    def encode(
        self,
        sources: Any,
        lengths: Lengths = None,
        tap: Tap = silent,
        rng: np.random.Generator | None = None,
    ) -> Memory:
        """Reads sources (batch, source), each with its end."""

    def begin(self, memory: Memory, longest: int) -> DecodingState:
        """Before the first step of at most `longest`."""

    def step(self, ids: Any, state: Any) -> Any:
        """Reads one token (batch,) of each row; the scores (batch, tokens) of the next ones."""

    def with_parameters(self, replacement: Any) -> Any:
        """As every `Part`."""
