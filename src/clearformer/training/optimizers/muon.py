"""Muon: momentum, made orthogonal, for the matrices between hidden vectors; AdamW for the rest."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from math import sqrt
from typing import Any

import numpy as np

from clearformer import ops
from clearformer.engines.polar import STEPS
from clearformer.training.optimizers.adamw import AdamW, AdamWSettings
from clearformer.training.optimizers.optimizer import Arrays, Optimizer, by_kind


@dataclass(frozen=True)
class MuonSettings:
    """The numbers of Muon; the learning rate comes with each step."""

    momentum: float = 0.9
    """How slowly the sum of the gradients forgets."""
    size: float = 1.25
    """How far an update goes, per learning rate: found by trials, with one learning rate for both
    optimizers."""
    decay: float = 0.0
    """Weight decay."""
    steps: int = STEPS
    """Polynomials that make an update orthogonal."""


class Muon(Optimizer):
    """M ← μM + G,  W ← W - η·decay·W - η·size·√max(1, out/in)·orthogonal(G + μM).

    A gradient of rank few turns W in few directions only; of its nearest orthogonal matrix, every
    direction gets an equal share. This is steepest descent under the spectral norm; with the root,
    what goes in with numbers of mean square 1 comes out changed by as much, whatever the width.
    (Jordan et al., "Muon", 2024; Bernstein and Newhouse, "Old Optimizer, New Norm", 2024; the
    decay: Liu et al., "Muon is Scalable for LLM Training", 2025.)

    Whatever is no matrix between hidden vectors (embedding, output, gains, biases) goes by AdamW.
    """

    def __init__(
        self,
        learner: Any,
        settings: MuonSettings | None = None,
        rest: AdamWSettings | None = None,
    ):
        self.settings = settings or MuonSettings()
        self._learner = learner
        self._rest = AdamW(learner, rest or AdamWSettings())
        # AdamW leaves alone what it does not move: M lies in its first average, and in its second
        # the update that is being made
        self.momentum, self._update = self._rest.first, self._rest.second
        self._turn_all = learner.taught(self._turn)

    def update(self, step: int, learning_rate: float) -> None:
        """Moves every parameter once; `step` counts from 1."""
        learner = self._learner
        self._turn_all([_cost(*stack.shape) for stack in learner.stacks])
        matrices = (partial(self._move, stack, learning_rate) for stack in learner.stacks)
        rest = (partial(self._rest.move, x, step, learning_rate) for x in learner.others)
        learner.work_through([*matrices, *rest])

    def _turn(self, number: int) -> None:
        """orthogonal(G + μM) of a stack, with the M that it will have; nothing is moved yet."""
        learner, settings = self._learner, self.settings
        stack = learner.stacks[number]
        update, gradient = self._update[stack.piece], learner.gradients[stack.piece]
        update[:] = self.momentum[stack.piece]
        for _ in range(2):  # the new M; its sum with G
            update *= settings.momentum
            update += gradient
        direction = ops.orthogonalise(learner.whole(stack, update), settings.steps)
        update[:] = learner.mine(stack, direction)

    def _move(self, stack: Any, learning_rate: float) -> None:
        """The new M of a stack, and its new W."""
        learner, settings, piece = self._learner, self.settings, stack.piece
        momentum, update = self.momentum[piece], self._update[piece]
        parameters = learner.parameters[piece]
        momentum *= settings.momentum
        momentum += learner.gradients[piece]
        inputs, outputs = stack.shape[1:]
        update *= learning_rate * settings.size * sqrt(max(1.0, outputs / inputs))
        if settings.decay:
            parameters *= 1 - learning_rate * settings.decay
        parameters -= update

    def state(self, *, keep: bool = True) -> Arrays:
        """What a save needs: `momentum.PATH`; of the rest `first.PATH` and `second.PATH`."""
        hidden, found = set(self._learner.hidden), dict[str, np.ndarray]()
        for name, array in self._rest.state(keep=keep).items():
            kind, _, path = name.partition(".")
            if path not in hidden:
                found[name] = array
            elif kind == "first":
                found[f"momentum.{path}"] = array
        return found

    def restore(self, state: Mapping[str, np.ndarray]) -> None:
        """Takes back what `state` gave.

        Raises:
            ValueError: it is the state of other parameters, or of another optimizer.
        """
        parts = by_kind(state)
        momentum = parts.pop("momentum", {})
        if set(momentum) != set(self._learner.hidden):
            raise ValueError("the arrays are those of another optimizer")
        nothing = {path: np.zeros_like(array) for path, array in momentum.items()}
        for kind, more in (("first", momentum), ("second", nothing)):
            parts[kind] = {**parts.get(kind, {}), **more}
        self._rest.restore(
            {f"{kind}.{path}": a for kind, x in parts.items() for path, a in x.items()}
        )


def _cost(matrices: int, rows: int, columns: int) -> int:
    """About how many multiplications `orthogonalise` makes for a stack, one against another."""
    short, long = sorted((rows, columns))
    return matrices * short * short * (2 * long + 8 * short)
