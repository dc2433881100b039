"""The learner in NumPy: each worker has a tape of its own.

A model whose steps are short computes a batch in one piece: one worker, whom the other threads help
with the large products. Two threads that each made such steps would meet at the interpreter's lock
at every operation of every step. Compiled kernels make all steps in one call without that lock:
with them the rows are split as always.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

import numpy as np

from clearformer.engines import learner
from clearformer.engines.copied import Copied, copies_work, shared
from clearformer.engines.helpers import ALONE, Helpers
from clearformer.engines.learner import Job, Loss
from clearformer.engines.memory import collecting_seldom
from clearformer.engines.numpy.compiled.choice import is_compiled
from clearformer.engines.tape import Tape
from clearformer.engines.threads import one_blas_thread, one_of_several

TRAINING = 60.0
"""Seconds that training is taken to last, so that it uses kernels where there are any. Whether it
does must not depend on how many steps are left, or a run gone on with would get other numbers."""


class Learner(learner.Learner):
    """Computes losses and gradients of one model, with single-threaded BLAS on each worker."""

    _workers: "Sequence[_Worker]"

    def __init__(self, model: Any, loss: Loss, workers: int = 1):
        super().__init__(model, workers)
        if workers > 1 and copies_work():
            self.parameters = shared(self.parameters)
        self.model = model.with_parameters(lambda name, _: self.view(self.parameters, name))
        compiled = is_compiled(TRAINING)
        whole = bool(model.in_one_piece) and not compiled
        helpers = Helpers(self._pool, workers - 1) if whole else ALONE
        split = 1 if whole else workers
        first = _Worker(self, loss, Tape(helpers, compiled), self.zeros())
        others = (
            _Worker(self, loss, Tape(compiled=compiled), shared(self.zeros()))
            for _ in range(split - 1)
        )
        self._workers = [first, *others]

    def buffer(self, flat: np.ndarray) -> np.ndarray:
        """The array itself."""
        return flat

    def zeros(self) -> np.ndarray:
        """An array of zeros."""
        return np.zeros_like(self.parameters)

    def to_array(self, x: np.ndarray) -> np.ndarray:
        """The array itself."""
        return x

    def begin(self, worker: Any, job: Job) -> Callable[[], float]:
        """A copy of this process if the worker has one, else a thread."""
        return worker.begin(*job) or super().begin(worker, job)

    @contextmanager
    def running(self) -> Iterator[None]:
        """While training: one BLAS thread per worker, and few searches for garbage."""
        with one_blas_thread(), one_of_several(), collecting_seldom(), ExitStack() as copies:
            for worker in self._workers[1:]:
                copies.enter_context(worker.elsewhere())
            yield


class _Worker:
    """One thread's tape, and its share of the gradients."""

    def __init__(self, learner: Learner, loss: Loss, tape: Tape, gradients: np.ndarray):
        self._tape = tape
        self._loss = loss
        self._model = learner.model.with_parameters(lambda _, array: self._tape.watch(array))
        self._leaves = self._model.parameters()
        self.gradients = gradients
        self._views = learner.named(self.gradients)
        self._rooms = {leaf.index: self._views[name] for name, leaf in self._leaves.items()}
        self._copy: Copied | None = None

    @contextmanager
    def elsewhere(self) -> Iterator[None]:
        """Inside, a copy of this process may do what `run` does, if there can be one."""
        if self._copy or not copies_work():
            yield
            return
        with Copied(self._told) as copy:
            self._copy = copy
            try:
                yield
            finally:
                self._copy = None

    def begin(self, *job: Any) -> Callable[[], float] | None:
        """Has the copy begin; what is returned waits for it. None where there is no copy."""
        if not (self._copy and self._copy.is_there):
            return None
        answer, rng = self._copy.begin(*job), job[-1]

        def result() -> float:
            told = answer()
            if told is None:
                return self.run(*job)
            loss, state = told
            if rng is not None:
                rng.bit_generator.state = state
            return loss

        return result

    def _told(self, *job: Any) -> tuple[float, Any]:
        """In the copy: the loss, and how far the generator is."""
        rng = job[-1]
        return self.run(*job), rng and rng.bit_generator.state

    def run(
        self,
        arrays: Sequence[np.ndarray],
        share: float,
        fresh: bool,
        rng: np.random.Generator | None,
    ) -> float:
        """The loss times `share`; its gradient goes into `gradients`, some of it at once."""
        if not len(arrays[0]):
            if fresh:
                self.gradients[:] = 0
            return 0.0
        self._tape.lend(self._rooms if fresh else {})
        loss = self._loss(self._model, *arrays, rng)
        self._tape.backward(loss, share)
        for name, leaf in self._leaves.items():
            view, gradient = self._views[name], self._tape.gradient(leaf)
            if fresh and gradient is not view:
                view[...] = gradient
            elif not fresh:
                view += gradient
        self._tape.forget(keep=len(self._leaves))
        return float(loss.data) * share
