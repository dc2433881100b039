"""One session of a run: from a fresh start or the last save to the end, saving on the way."""

import math
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

import numpy as np

from clearformer.engines.kernels import kernels_compiled
from clearformer.engines.ranks import Alone
from clearformer.errors import NotFiniteError, RunError
from clearformer.training.checkpoint import Checkpoint, save_checkpoint
from clearformer.training.evaluation import Evaluation
from clearformer.training.evaluation_time import EvaluationTime, TooLongError
from clearformer.training.events import Reporter, Step
from clearformer.training.interrupt import Interrupt
from clearformer.training.loop import Loop
from clearformer.training.objective import Objective
from clearformer.training.optimizers import optimizer_for
from clearformer.training.options import TrainingOptions
from clearformer.training.preparation import Prepared
from clearformer.training.run_folder import RunFolder
from clearformer.training.state import carried_by, restore_state, state_of
from clearformer.training.unwritten import Unwritten

LOG_SECONDS = 1.0
"""At most one line of training loss per second goes into the log."""

LARGEST_SAVE_SHARE = 0.02
"""Saves come at most so often that they take this share of the time."""


class Session:
    """Trains in a run folder: evaluates, samples, logs and saves at the right moments."""

    def __init__(
        self,
        folder: RunFolder | Unwritten,
        prepared: Prepared,
        options: TrainingOptions,
        learner: Any,
        objective: Objective[Any],
        reporter: Reporter,
        sample: Callable[[Any], str] | None = None,
        ranks: Alone | None = None,
    ) -> None:
        self.folder, self.prepared, self.options = folder, prepared, options
        self.learner, self.reporter, self.sample = learner, reporter, sample
        self.ranks = ranks or Alone()
        self.objective = objective
        batches = objective.batches(prepared, options, self.ranks.rank, self.ranks.ranks)
        optimizer = optimizer_for(learner, options)
        self.loop = Loop(learner, batches, optimizer, options, self.ranks)
        self.evaluation: Evaluation | None = None
        self._evaluations = 0
        self._logged_step = -1
        self._evaluated_step = -1
        self._newest: Step | None = None
        self._evaluation_time = EvaluationTime(options, self.ranks)
        self._saved_step = -1
        self._saved_at = self._logged_at = self._now()
        self._save_seconds = 0.0
        self._interrupt = Interrupt()

    def run(self) -> int | None:
        """Trains to the end and saves; returns the number of the signal that stopped it, if any.

        Raises:
            NotFiniteError: the loss or a gradient is NaN or infinite; the last save is kept.
            RunError: a save could not be written; earlier ones are intact.
        """
        quiet = np.errstate(over="ignore", invalid="ignore", divide="ignore")  # looked for anyway
        with self.learner.running(), quiet, Interrupt() as interrupt:
            self._interrupt = interrupt
            self.loop.run(_Ears(self), lambda: self._asked_to_stop() > 0)
            stopped_by = self._asked_to_stop()
            if not stopped_by and self._evaluated_step != self.loop.step:
                with suppress(_AskedToStopError):
                    self._evaluate_at_the_end()
            self.save()
            return stopped_by or self._asked_to_stop() or None

    def _asked_to_stop(self) -> int:
        """The number of a signal that any of the ranks has heard, 0 for none."""
        return self.ranks.largest(self._interrupt.number or 0)

    def _now(self) -> float:
        """The clock of rank 0, in seconds: whatever hangs on time, all ranks decide alike."""
        return self.ranks.same(time.monotonic())

    def restore(self, checkpoint: Checkpoint) -> None:
        """Goes on from a save.

        Raises:
            RunError: the save is of a model with other parameters.
        """
        try:
            self.learner.put(self.learner.parameters, checkpoint.model)
        except ValueError:
            raise RunError(
                f"{checkpoint.path} does not hold the parameters that run.json describes; "
                "one of the two was changed"
            ) from None
        made = restore_state(self.loop, self.objective, checkpoint)
        due = self.loop.progress * self.options.evaluations  # fewer where the run is longer now
        self._evaluations = min(made, int(due + 1e-6))
        self._saved_step = self.loop.step
        self.folder.truncate_log(self.loop.step)
        self.folder.truncate_samples(self.loop.step)

    def save(self) -> None:
        """Writes a save, unless there is one of this step already."""
        loop = self.loop
        if loop.step == self._saved_step:
            return
        begun = self._now()
        # on every rank, even if only the first keeps them and writes: where they share the weights
        # out among them, they come together here
        writes = self.ranks.rank == 0
        model = self.learner.named(self.learner.parameters, keep=writes)
        self.ranks.first(lambda: self._require_finite(model))
        optimizer = {**loop.optimizer.state(keep=writes), **carried_by(self.objective, self.ranks)}
        folder = self.folder.checkpoints
        prepared = self.prepared
        fingerprint = prepared.tokenizer.fingerprint
        state = state_of(loop, self._evaluations, prepared.model, fingerprint)

        def write() -> None:
            self.folder.require_own()
            save_checkpoint(folder, loop.step, model=model, optimizer=optimizer, state=state)

        self.ranks.first(write)
        self._saved_step, self._saved_at = loop.step, self._now()
        self._save_seconds = self._saved_at - begun
        loop.other_seconds += self._save_seconds
        self.reporter.saved(loop.step)

    def _require_finite(self, model: Mapping[str, np.ndarray]) -> None:
        """Never puts what is broken over what is good."""
        for name, weight in model.items():
            if not np.isfinite(weight).all():
                raise NotFiniteError(
                    f"after step {self.loop.step} the first weight that is not finite is {name}; "
                    f"that was not saved; {self._advice()}"
                )

    def _advice(self) -> str:
        return f"try a learning rate below {self.options.learning_rate:g}"

    def summary(self) -> dict[str, Any]:
        """What the run has reached, under the names of `train --json`."""
        loop, evaluation = self.loop, self.evaluation
        return {
            "run": str(self.folder.path),
            "parameters": self.prepared.model.parameter_count,
            "vocabulary": self.prepared.tokenizer.vocabulary_size,
            "steps": loop.step,
            "tokens_seen": loop.tokens_seen,
            "seconds": loop.seconds,
            "train_loss": loop.recent_loss if math.isfinite(loop.recent_loss) else None,
            "validation_loss": evaluation.loss if evaluation else None,
            "validation_perplexity": evaluation.perplexity if evaluation else None,
            "bits_per_character": evaluation.bits_per_character if evaluation else None,
            "accuracy": evaluation.accuracy if evaluation else None,
        }

    def after_step(self, step: Step) -> None:
        """Logs, evaluates and saves when it is time."""
        self._newest = step
        now = self._now()
        if now - self._logged_at >= LOG_SECONDS or step.step == 1:
            self._logged_at = now
            self._log_step(step)
        finished = step.progress >= 1.0
        due = step.progress * self.options.evaluations >= self._evaluations + 1
        if finished or due:
            before, self._evaluations = (
                self._evaluations,
                int(step.progress * self.options.evaluations),
            )
            if finished or self._evaluation_time.allows_one(step):
                try:
                    self._evaluate_after(step, finished)
                except _AskedToStopError:  # it is due again when the run goes on
                    self._evaluations = before
        wait = max(self.options.save_seconds, self._save_seconds / LARGEST_SAVE_SHARE)
        if now - self._saved_at >= wait and not finished:
            self.save()

    def _evaluate_after(self, step: Step, finished: bool) -> None:
        self._log_step(step)
        try:
            self._evaluate(math.inf if finished else self._evaluation_time.left(step))
        except RunError:  # of the log or the samples; the weights are good
            if self.ranks.ranks == 1:  # else the others are not here to save with
                self.save()
            raise

    def _evaluate_at_the_end(self) -> None:
        """Where the time was up without a step that knew of it: a save had taken the rest of it."""
        if self._newest is None:  # a finished run was resumed: all is written
            self.evaluation = self._measured()
        else:
            self._evaluate_after(self._newest, True)

    def _log_step(self, step: Step) -> None:
        if step.step == self._logged_step:
            return
        self._logged_step = step.step
        self.folder.log(
            {
                "step": step.step,
                "train_loss": step.loss,
                "learning_rate": step.learning_rate,
                "gradient_norm": step.gradient_norm,
                "clipped_norm": step.clipped_norm,
                "tokens_seen": step.tokens_seen,
                "tokens_per_second": step.tokens_per_second,
                "seconds": step.seconds,
            }
        )

    def _evaluate(self, seconds: float) -> None:
        """Measures the validation loss, if it can be done in so many seconds; writes a sample."""
        begun, compiled = self._now(), kernels_compiled()
        step = self.loop.step
        try:
            self.evaluation = self._measured(seconds)
        except TooLongError as fault:
            self.reporter.note(
                f"measuring on the validation part would take about {fault.seconds / 60:.1f} "
                "minutes, too much of this run; it is measured at the end only, where Ctrl-C "
                "leaves it out"
            )
        else:
            self._evaluated_step = step
            if self.evaluation is not None:
                self._log_evaluation(step, self.evaluation)
                self.reporter.evaluated(step, self.evaluation)
        if self.sample is not None:
            self._write_sample(step, self.sample, self.learner.snapshot())
        taken = self._now() - begun
        if kernels_compiled() == compiled:  # as in the loop
            self._evaluation_time.taken += taken
            self.loop.other_seconds += taken

    def _write_sample(self, step: int, sample: Callable[[Any], str], model: Any) -> None:
        if self.ranks.rank == 0:
            try:
                text = sample(model)
            except NotFiniteError as fault:
                raise NotFiniteError(
                    f"after step {step} no sample could be written ({fault}): the first that is "
                    f"not finite is logits; the last save is kept; {self._advice()}"
                ) from None
            self.folder.add_sample(step, text)
            self.reporter.sampled(step, text)

    def _measured(self, seconds: float = math.inf) -> Evaluation | None:
        """The loss on the validation part; None where there is none.

        Raises:
            TooLongError: it would take more seconds than these.
        """
        prepared = self.prepared
        if not prepared.validation.is_enough:
            return None
        self.reporter.evaluating(self.loop.step)
        found = self.objective.evaluate(
            self.learner.model,
            prepared.validation,
            spread=self.learner.spread,
            progress=self._while_allowed(seconds),
        )
        if not math.isfinite(found.loss):
            model = self.learner.named(self.learner.parameters, keep=self.ranks.rank == 0)
            self.ranks.first(lambda: self._require_finite(model))
            raise NotFiniteError(
                f"after step {self.loop.step} the validation loss is {found.loss}; the last save "
                f"is kept; {self._advice()}"
            )
        return found

    def _while_allowed(self, seconds: float) -> Callable[[float], None]:
        """A large validation part takes minutes; who asks to stop does not wait for it."""
        begun = self._now()

        def look(share: float) -> None:
            if self._asked_to_stop():  # every rank asks equally often
                raise _AskedToStopError
            if seconds < math.inf:
                self._evaluation_time.require(self._now() - begun, share, seconds)

        return look

    def _log_evaluation(self, step: int, evaluation: Evaluation) -> None:
        self.folder.log(
            {
                "step": step,
                "validation_loss": evaluation.loss,
                "validation_perplexity": evaluation.perplexity,
                "bits_per_character": evaluation.bits_per_character,
                **({} if evaluation.accuracy is None else {"accuracy": evaluation.accuracy}),
                "seconds": self.loop.seconds,
            }
        )


class _AskedToStopError(Exception):
    """An evaluation was left because the run was asked to stop."""


class _Ears(Reporter):
    """Hears the loop on behalf of a session."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def step(self, step: Step) -> None:
        self._session.reporter.step(step)
        self._session.after_step(step)
