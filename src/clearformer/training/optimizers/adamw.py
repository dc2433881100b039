"""How parameters move: AdamW, on the flat buffers of a learner."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from clearformer import ops
from clearformer.training.optimizers.optimizer import Arrays, Optimizer, by_kind


@dataclass(frozen=True)
class AdamWSettings:
    """The numbers of AdamW; the learning rate comes with each step."""

    beta_1: float = 0.9
    """How slowly the mean of the gradients forgets."""
    beta_2: float = 0.99
    """How slowly the mean of their squares forgets."""
    epsilon: float = 1e-8
    """Keeps the division from zero."""
    decay: float = 0.1
    """Weight decay, on matrices only."""


class AdamW(Optimizer):
    """Adam with decoupled weight decay (Loshchilov and Hutter, 2019, algorithm 2)."""

    def __init__(self, learner: Any, settings: AdamWSettings):
        self.settings = settings
        self._learner = learner
        self.first, self.second = learner.zeros(), learner.zeros()

    def update(self, step: int, learning_rate: float) -> None:
        """Moves every parameter once; `step` counts from 1."""
        self._learner.each(lambda piece: self.move(piece, step, learning_rate))

    def move(self, piece: Any, step: int, learning_rate: float) -> None:
        """Moves one piece of the parameters, which are all matrices or all vectors."""
        learner, settings = self._learner, self.settings
        ops.adamw(
            learner.parameters[piece],
            learner.gradients[piece],
            self.first[piece],
            self.second[piece],
            step=step,
            learning_rate=learning_rate,
            beta_1=settings.beta_1,
            beta_2=settings.beta_2,
            epsilon=settings.epsilon,
            decay=settings.decay if learner.is_matrix(piece) else 0.0,
        )

    def state(self, *, keep: bool = True) -> Arrays:
        """What a save needs, under `first.PATH` and `second.PATH`; see `Learner.named`."""
        return {
            f"{kind}.{name}": array
            for kind, buffer in self._buffers()
            for name, array in self._learner.named(buffer, keep=keep).items()
        }

    def restore(self, state: Mapping[str, np.ndarray]) -> None:
        """Takes back what `state` gave.

        Raises:
            ValueError: it is the state of other parameters, or of another optimizer.
        """
        parts = by_kind(state)
        if set(parts) != {kind for kind, _ in self._buffers()}:
            raise ValueError("the arrays are those of another optimizer")
        for kind, buffer in self._buffers():
            self._learner.put(buffer, parts[kind])

    def _buffers(self) -> tuple[tuple[str, Any], ...]:
        return ("first", self.first), ("second", self.second)
