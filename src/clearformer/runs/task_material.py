"""Pairs that are drawn from a task with a known answer."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from hashlib import sha256
from typing import Any

import numpy as np

from clearformer.errors import ConfigurationError
from clearformer.runs.pair_material import PairMaterial
from clearformer.tasks.registry import task as task_called
from clearformer.tasks.registry import tasks
from clearformer.tasks.task import PairTask
from clearformer.text.pairs import Pair
from clearformer.training.pair_preparation import Place

TO_LEARN, TO_BE_JUDGED = 50_000, 2_000
"""Pairs that are drawn of each part for a new run."""

MOST = 10_000_000
"""Pairs; a run.json that asks for more is damaged."""


@dataclass(frozen=True, eq=False)
class TaskMaterial(PairMaterial):
    """Pairs of a task; what is held out has inputs that are never learned from."""

    task: PairTask
    seed: int
    learned: int
    judged: int

    @property
    def fingerprint(self) -> str:
        """SHA-256 of what decides the pairs."""
        decides = [self.task.name, self._settings, self.seed, self.learned, self.judged]
        return sha256(json.dumps(decides, sort_keys=True).encode()).hexdigest()

    @property
    def shown(self) -> str:
        """Such as: the task dates."""
        return f"the task {self.task.name}"

    @property
    def notes(self) -> tuple[str, ...]:
        """How many pairs there are."""
        return (
            f"{self.learned:,} pairs of the task {self.task.name} were drawn to learn from, and "
            f"{self.judged:,} of its other part to be judged by",
        )

    @property
    def name(self) -> str:
        """That of the task."""
        return self.task.name

    @property
    def _settings(self) -> dict[str, Any]:
        return asdict(self.task)  # type: ignore[call-overload]  # every task is a dataclass

    def recorded(self) -> dict[str, Any]:
        """What decides the pairs."""
        return {
            "task": self.task.name,
            "settings": self._settings,
            "seed": self.seed,
            "sources": [self.shown],
            "files": [],
            "pairs": self.learned,
            "held_out": self.judged,
            "characters": self.characters_to_cut,
            "fingerprint": self.fingerprint,
        }

    @cached_property
    def train(self) -> Sequence[Pair]:
        """Drawn from the part train."""
        return self.task.draw(np.random.default_rng([self.seed, 0]), self.learned, "train")

    @cached_property
    def held_out(self) -> Sequence[Pair]:
        """Drawn from the part test."""
        return self.task.draw(np.random.default_rng([self.seed, 1]), self.judged, "test")

    @property
    def all(self) -> Sequence[Pair]:
        """Those of both parts."""
        return [*self.train, *self.held_out]

    def place(self, number: int) -> str:
        """The number of the pair."""
        return f"{self.shown}, pair {number + 1:,}"

    @property
    def places(self) -> tuple[Place, Place]:
        """The number of the pair."""
        return self.place, self.place


def task_material(name: str, seed: int) -> TaskMaterial:
    """The pairs of a task, for a new run.

    Raises:
        ConfigurationError: there is no such task, or it is none of pairs.
    """
    return _drawn(name, seed, {}, TO_LEARN, TO_BE_JUDGED)


def task_material_again(recorded: Mapping[str, Any]) -> TaskMaterial:
    """The pairs that run.json tells of.

    Raises:
        ConfigurationError: there is no such task or setting.
        TypeError: what is recorded is damaged.
        KeyError: something is missing.
    """
    counts = [recorded[name] for name in ("pairs", "held_out", "seed")]
    if not all(type(count) is int and 0 <= count <= 2**53 for count in counts):
        raise TypeError(f"{counts}")
    learn, judge, seed = counts
    if not (1 <= learn <= MOST and 1 <= judge <= MOST):
        raise TypeError(f"{counts}")
    return _drawn(str(recorded["task"]), seed, dict(recorded["settings"]), learn, judge)


def _drawn(
    name: str, seed: int, settings: Mapping[str, Any], learn: int, judge: int
) -> TaskMaterial:
    found = task_called(name, **settings)
    if not isinstance(found, PairTask):
        pairs = [each for each in tasks() if isinstance(task_called(each), PairTask)]
        raise ConfigurationError(
            f"the task {name} has no pairs of source and target; those that have are "
            f"{', '.join(pairs)}"
        )
    return TaskMaterial(found, seed, learn, judge)
