"""The training loop: batches in, losses and gradients, clipped, one update; and again."""

import math
import time
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from clearformer.engines.dispatch import array_of
from clearformer.engines.kernels import kernels_compiled
from clearformer.engines.ranks import Alone
from clearformer.errors import NotFiniteError
from clearformer.models.tap import Recorder
from clearformer.training.events import Reporter, Step
from clearformer.training.objective import Source
from clearformer.training.optimizers import Optimizer
from clearformer.training.options import TrainingOptions
from clearformer.training.pace import Pace
from clearformer.training.schedule import learning_rate

STEPS = 2000
"""Without steps or minutes: about a minute and a quarter for the small model on two processors."""

NEWEST = 0.05
"""Weight of the newest batch in the running mean of the loss, which so spans about 20 batches."""


class Loop:
    """Trains the model of a learner; knows nothing of what kind of model it is.

    Attributes:
        step: updates made so far.
        tokens_seen: target tokens those updates were computed from.
        seconds: time spent in them, over all sessions of the run, without those in which a kernel
            was compiled.
        other_seconds: time spent on evaluations, samples and saves, likewise.
        recent_loss: running mean of the loss over about 20 batches, in nats per token.
        pace: how quick the steps of the last seconds were.
    """

    def __init__(
        self,
        learner: Any,
        batches: Source,
        optimizer: Optimizer,
        options: TrainingOptions,
        ranks: Alone | None = None,
    ) -> None:
        self.learner, self.batches, self.optimizer = learner, batches, optimizer
        self.options = options
        self.ranks = ranks or Alone()
        self.steps = options.steps or (None if options.minutes else STEPS)
        self.step = 0
        self.tokens_seen = 0
        self.seconds = 0.0
        self.other_seconds = 0.0
        self.recent_loss = math.nan
        self.pace = Pace()

    @property
    def progress(self) -> float:
        """Share of the run that is done, 0 … 1."""
        if self.steps is not None:
            return min(self.step / self.steps, 1.0)
        taken = self.seconds + self.other_seconds
        return min(taken / (60 * (self.options.minutes or 0)), 1.0)

    def run(self, reporter: Reporter, pause: Callable[[], bool]) -> None:
        """Trains until the end, or until `pause`, asked after every step, says to stop.

        Raises:
            NotFiniteError: a loss or gradient is NaN or infinite; that update was not made.
        """
        while self.progress < 1.0:
            begun, compiled = time.monotonic(), kernels_compiled()
            told = self.one_step()
            taken = self.ranks.same(time.monotonic() - begun)
            if kernels_compiled() == compiled:  # else that is what it took, once per installation
                self.seconds += taken
                self.pace.add(taken)
            reporter.step(self._told(told))
            if pause():
                break

    @np.errstate(over="ignore", invalid="ignore", divide="ignore")  # it is looked for below
    def one_step(self) -> tuple[float, float, float]:
        """One update; returns its loss, learning rate and gradient norm."""
        arrays = self.batches.next()
        loss = self.ranks.total(self._gradients(arrays))
        norm = self.learner.gather()
        if not (math.isfinite(loss) and math.isfinite(norm)):
            raise NotFiniteError(self._explain_not_finite(loss, arrays))
        if norm > self.options.clip:
            self.learner.scale(self.options.clip / norm)
        # the rate in the middle of this step, so that neither the first nor the last is zero
        middle = (self.step + 0.5) / self.steps if self.steps else self.progress
        rate = learning_rate(self.options, middle)
        self.optimizer.update(self.step + 1, rate)
        self.step += 1
        self.tokens_seen += self.batches.targets
        newest = max(1 / self.step, NEWEST)  # first the plain mean, so that no start lingers
        before = self.recent_loss if math.isfinite(self.recent_loss) else loss
        self.recent_loss = before + newest * (loss - before)
        return loss, rate, norm

    def _gradients(self, arrays: Sequence[np.ndarray]) -> float:
        """The loss of these rows, in `accumulation` parts that weigh as their rows of the batch."""
        total = 0.0
        rows, parts = len(arrays[0]), self.options.accumulation
        cuts = [rows * n // parts for n in range(parts + 1)]
        for number, (begin, end) in enumerate(pairwise(cuts)):
            share = (end - begin) / self.options.batch
            part = self.learner.loss_and_gradients(
                *(array[begin:end] for array in arrays),
                share=share,
                rngs=self._dropout(number),
                last=number == parts - 1,
            )
            total += share * part
        return total

    def _dropout(self, part: int) -> Callable[[int], np.random.Generator]:
        """Generators that depend on seed, step, part and worker alone: nothing to save."""
        key = [self.options.seed, self.step, part]
        return lambda worker: np.random.default_rng([*key, self.ranks.rank + worker])

    def _told(self, told: tuple[float, float, float]) -> Step:
        loss, rate, norm = told
        pace = self.pace.seconds
        return Step(
            step=self.step,
            progress=self.progress,
            loss=loss,
            learning_rate=rate,
            gradient_norm=norm,
            clipped_norm=min(norm, self.options.clip),
            tokens_seen=self.tokens_seen,
            tokens_per_second=self.batches.targets / pace if pace else 0.0,
            seconds=self.seconds,
            seconds_left=self._seconds_left(pace),
        )

    def _seconds_left(self, pace: float) -> float:
        """Without evaluations, where the steps are counted; else by the clock."""
        if self.steps is not None:
            return max(self.steps - self.step, 0) * pace
        return 60 * (self.options.minutes or 0.0) * (1 - self.progress)

    def _explain_not_finite(self, loss: float, arrays: Sequence[np.ndarray]) -> str:
        """Names the first tensor that is NaN or infinite: forwards, then among the gradients."""
        named = self.learner.named
        seen = Recorder()
        for name, weight in named(self.learner.parameters).items():
            if not np.isfinite(weight).all():
                return self._stopped("weight", name)
        if self.ranks.ranks == 1:  # else each rank would find something else, or nothing
            self.learner.model(arrays[0], tap=seen)
        for name, x in seen.seen.items():
            if name.endswith("masked_scores"):
                continue  # -inf is what they are made of
            if not np.isfinite(array_of(x)).all():
                return self._stopped("activation", name)
        if not math.isfinite(loss):
            return self._stopped("loss", f"{loss}")
        for name, gradient in named(self.learner.gradients).items():
            if not np.isfinite(gradient).all():
                return self._stopped("gradient", name)
        return self._stopped("gradient", "the norm of all of them")

    def _stopped(self, kind: str, name: str) -> str:
        return (
            f"training stopped before step {self.step + 1}: the first {kind} that is not finite is "
            f"{name}; the weights are as after step {self.step}; "
            f"try a learning rate below {self.options.learning_rate:g}"
        )
