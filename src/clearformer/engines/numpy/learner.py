"""The learner in NumPy: each worker has a tape of its own, and where it can be a process.

Threads that make many small calls meet at the interpreter's lock after each of them. So while
training, all workers but the first are copies of the process, which share the buffers with it:
parameters come in and gradients go out without being sent. Where there can be no copies, they are
threads; what is computed is the same to the last bit.

There, a model whose steps are short computes a batch in one piece: one worker, whom the other
threads help with the large products. Compiled kernels make all steps in one call without the lock:
with them the rows are split as always.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any

import numpy as np

from clearformer.engines import learner
from clearformer.engines.copied import Copied
from clearformer.engines.helpers import ALONE, Helpers
from clearformer.engines.kernels import TRAINING
from clearformer.engines.learner import Job, Loss, Share, all_of, weakly
from clearformer.engines.memory import collecting_seldom
from clearformer.engines.numpy.compiled.choice import is_compiled
from clearformer.engines.shared import copies_work, shared, shared_zeros
from clearformer.engines.tape import Tape, kernels_for_arrays
from clearformer.engines.threads import one_blas_thread, one_of_several

FEW = 500_000
"""Numbers that one thread has gone through before two have agreed on who does what."""

GRADIENT = -1
"""What a copy is told in place of the number of what was taught."""


class Learner(learner.Learner):
    """Computes losses and gradients of one model, with single-threaded BLAS on each worker.

    Attributes:
        is_copied: whether its workers are copies of the process, while it is running.
    """

    _workers: "Sequence[_Worker]"

    def __init__(self, model: Any, loss: Loss, workers: int = 1):
        self.is_copied = workers > 1 and copies_work()
        super().__init__(model, workers)
        if self.is_copied:
            self.parameters = shared(self.parameters)
        self.model = model.with_parameters(lambda name, _: self.view(self.parameters, name))
        self._copies: dict[_Worker, Copied] = {}
        self._taught: list[Callable[[int], None]] = []
        self._compiled = compiled = is_compiled(TRAINING)
        whole = bool(model.in_one_piece) and not (compiled or self.is_copied)
        helpers = Helpers(self._pool, workers - 1) if whole else ALONE
        split = 1 if whole else workers
        self._workers = [_Worker(self, loss, Tape(helpers, compiled)) for _ in range(split)]

    def buffer(self, flat: np.ndarray) -> np.ndarray:
        """The array itself."""
        return flat

    def zeros(self) -> np.ndarray:
        """An array of zeros; copies of the process see what is written into it."""
        make = shared_zeros if self.is_copied else np.zeros
        return make(self.parameters.shape, self.parameters.dtype)

    def to_array(self, x: np.ndarray) -> np.ndarray:
        """The array itself."""
        return x

    def begin(self, worker: Any, job: Job) -> Callable[[], float]:
        """A copy of this process if there is one for the worker, else a thread."""
        copy = self._copies.get(worker)
        rows, _, fresh, rng = job
        if not (copy and copy.is_there and len(rows[0])):
            return super().begin(worker, job)
        answer = copy.begin(GRADIENT, job)

        def result() -> float:
            told = answer()
            if told is None:
                return float(worker.run(*job))
            loss, state = told
            if not fresh:
                worker.gradients += worker.beside.gradients
            if rng is not None:
                rng.bit_generator.state = state
            return float(loss)

        return result

    def taught(self, work: Callable[[int], None]) -> Share:
        """As every learner; copies that are made afterwards know the work too."""
        self._taught.append(weakly(work))
        number, by_threads = len(self._taught) - 1, super().taught(work)

        def share(costs: Sequence[float]) -> None:
            copies = [copy for copy in self._copies.values() if copy.is_there]
            if not copies:
                by_threads(costs)
                return
            mine, *theirs = _shared_out(costs, 1 + len(copies))
            later = [self._begin_work(*each, number) for each in zip(copies, theirs, strict=True)]
            all_of([lambda: self._work(number, mine), *later])

        return share

    def _begin_work(self, copy: Copied, pieces: list[int], number: int) -> Callable[[], None]:
        answer = copy.begin(number, pieces)

        def result() -> None:
            if answer() is None:
                self._work(number, pieces)

        return result

    def _work(self, number: int, pieces: Sequence[int]) -> bool:
        for piece in pieces:
            self._taught[number](piece)
        return True

    def _told(self, worker: "_Worker", number: int, told: Any) -> Any:
        """In a copy: a gradient, or some pieces of what was taught under this number.

        Of a gradient, the loss, and how far the generator is.
        """
        if number != GRADIENT:
            return self._work(number, told)
        arrays, share, fresh, rng = told
        place = worker.place if fresh else worker.beside  # what is there already is not touched
        return worker.run_into(place, arrays, share, True, rng), rng and rng.bit_generator.state

    def each(self, function: Callable[[slice], Any]) -> list[Any]:
        """As every learner; on this thread where it is soon done."""
        if len(self.parameters) > FEW:
            return super().each(function)
        return [function(piece) for piece in self.pieces]

    def work_through(self, jobs: Sequence[Callable[[], Any]]) -> None:
        """As every learner; on this thread where it is soon done."""
        if len(self.parameters) > FEW:
            super().work_through(jobs)
            return
        for job in jobs:
            job()

    @contextmanager
    def running(self) -> Iterator[None]:
        """While training: one BLAS thread per worker, few searches for garbage, and kernels."""
        with one_blas_thread(), one_of_several(), collecting_seldom(), ExitStack() as inside:
            if self._compiled:
                inside.enter_context(kernels_for_arrays())
            if self.is_copied and not self._copies:
                inside.callback(self._copies.clear)
                for worker in self._workers[1:]:
                    copy = Copied(partial(self._told, worker))
                    self._copies[worker] = inside.enter_context(copy)
                    if not copy.is_there:  # neither would the next be
                        break
            yield


class _Place:
    """Where a worker's gradients go."""

    def __init__(self, learner: Learner, leaves: Mapping[str, Any]):
        self.gradients = learner.zeros()
        self.views = learner.named(self.gradients)
        self.rooms = {leaf.index: self.views[name] for name, leaf in leaves.items()}


class _Worker:
    """One tape, and its share of the gradients.

    Attributes:
        gradients: all of them.
        place: the same.
        beside: where a copy of the process puts those of a further part of a batch.
    """

    def __init__(self, learner: Learner, loss: Loss, tape: Tape):
        self._tape = tape
        self._loss = loss
        self._model = learner.model.with_parameters(lambda _, array: self._tape.watch(array))
        self._leaves = self._model.parameters()
        self.place = _Place(learner, self._leaves)
        self.beside = _Place(learner, self._leaves) if learner.is_copied else self.place
        self.gradients = self.place.gradients

    def run(
        self,
        arrays: Sequence[np.ndarray],
        share: float,
        fresh: bool,
        rng: np.random.Generator | None,
    ) -> float:
        """The loss times `share`; its gradient goes into `gradients`, some of it at once."""
        return self.run_into(self.place, arrays, share, fresh, rng)

    def run_into(
        self,
        place: _Place,
        arrays: Sequence[np.ndarray],
        share: float,
        fresh: bool,
        rng: np.random.Generator | None,
    ) -> float:
        """The same, with the gradient in another place."""
        if not len(arrays[0]):
            if fresh:
                place.gradients[:] = 0
            return 0.0
        self._tape.lend(place.rooms if fresh else {})
        loss = self._loss(self._model, *arrays, rng)
        self._tape.backward(loss, share)
        for name, leaf in self._leaves.items():
            view, gradient = place.views[name], self._tape.gradient(leaf)
            if fresh and gradient is not view:
                view[...] = gradient
            elif not fresh:
                view += gradient
        self._tape.forget(keep=len(self._leaves))
        return float(loss.data) * share


def _shared_out(costs: Sequence[float], workers: int) -> list[list[int]]:
    """Who does which: the dearest first, each by who has least to do until then."""
    taken, loads = [list[int]() for _ in range(workers)], [0.0] * workers
    for number in sorted(range(len(costs)), key=lambda n: -costs[n]):
        least = loads.index(min(loads))
        taken[least].append(number)
        loads[least] += costs[number]
    return taken
