"""One model, trained once with one seed and judged once."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from clearformer.comparison.course import Ground, Score
from clearformer.comparison.document import Point
from clearformer.engines.choose import choose_engine, learner_of
from clearformer.engines.execution import Execution
from clearformer.errors import NotFiniteError
from clearformer.models.kind import Configuration
from clearformer.models.kinds import build
from clearformer.training.events import Reporter, Step
from clearformer.training.loop import Loop
from clearformer.training.optimizers import optimizer_for
from clearformer.training.options import TrainingOptions

CURVE = 100
"""Points of a curve that are kept."""

MEASURED_STEPS = 2
"""Steps in which memory is measured: the first, and one that begins as all later ones do."""


@dataclass(frozen=True)
class Trial:
    """What is trained, on what, and how."""

    configuration: Configuration
    ground: Ground
    options: TrainingOptions
    execution: Execution


@dataclass(frozen=True)
class Outcome:
    """How a trial ended."""

    score: Score
    tokens: int
    seconds: float
    """Time in training steps."""
    curve: tuple[Point, ...]
    model: Any
    """In NumPy arrays."""


def run(
    trial: Trial, hear: Callable[[float], None], asked_to_stop: Callable[[], bool]
) -> Outcome | None:
    """Trains and judges; None if it was asked to stop on the way.

    Args:
        trial: what is trained.
        hear: hears the share that is done after every step, 0 … 1.
        asked_to_stop: asked after every step.

    Raises:
        NotFiniteError: the loss or a gradient became NaN or infinite, or the judged loss is.
    """
    learner, loop = _begun(trial)
    ears = _Ears(loop, hear)
    quiet = np.errstate(over="ignore", invalid="ignore", divide="ignore")  # looked for anyway
    with learner.running(), quiet:
        loop.run(ears, asked_to_stop)
        if loop.progress < 1:
            return None
        score = trial.ground.judge(learner.model, learner.spread)
    if not math.isfinite(score.loss):
        raise NotFiniteError(f"the loss on what was held out is {score.loss}")
    return Outcome(score, loop.tokens_seen, loop.seconds, ears.curve(), learner.snapshot())


def memory_of(trial: Trial) -> int:
    """Bytes at the height of a training step: weights, gradients, averages, what a batch leaves.

    Measured apart from the timed trials, as that slows everything down, and with one worker for the
    whole batch. On NumPy all that Python and NumPy have allocated; on PyTorch its tensors.
    """
    alone = replace(trial, execution=replace(trial.execution, workers=1))
    engine = choose_engine(trial.execution.engine)
    height: int = engine.height_of(lambda: _some_steps(alone))
    return height


def _some_steps(trial: Trial) -> Any:
    learner, loop = _begun(trial)
    with learner.running():
        for _ in range(MEASURED_STEPS):
            loop.one_step()
    return learner


def _begun(trial: Trial) -> tuple[Any, Loop]:
    options = trial.options
    model = build(trial.configuration, np.random.default_rng(options.seed))
    batches = trial.ground.batches(options)
    learner = learner_of(trial.execution, model, trial.ground.loss)
    return learner, Loop(learner, batches, optimizer_for(learner, options), options)


class _Ears(Reporter):
    """Hears the loop, and keeps its curve."""

    def __init__(self, loop: Loop, hear: Callable[[float], None]):
        self._loop, self._hear = loop, hear
        self._points: list[Point] = []

    def step(self, step: Step) -> None:
        self._points.append(Point(step.tokens_seen, step.seconds, self._loop.recent_loss))
        self._hear(step.progress)

    def curve(self) -> tuple[Point, ...]:
        """At most so many points, the last among them."""
        count = len(self._points)
        kept = min(count, CURVE)
        return tuple(self._points[(n + 1) * count // kept - 1] for n in range(kept))
