"""What every optimizer can do."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

import numpy as np

Arrays = dict[str, np.ndarray]


class Optimizer(ABC):
    """Moves the parameters of a learner along its gradients."""

    @abstractmethod
    def update(self, step: int, learning_rate: float) -> None:
        """Moves every parameter once; `step` counts from 1."""

    @abstractmethod
    def state(self, *, keep: bool = True) -> Arrays:
        """What a save needs, under KIND.PATH; see `Learner.named`."""

    @abstractmethod
    def restore(self, state: Mapping[str, np.ndarray]) -> None:
        """Takes back what `state` gave.

        Raises:
            ValueError: it is the state of other parameters, or of another optimizer.
        """


def by_kind(state: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The arrays of a state by kind, then by path."""
    parts: dict[str, dict[str, Any]] = {}
    for name, array in state.items():
        kind, _, path = name.partition(".")
        parts.setdefault(kind, {})[path] = array
    return parts
