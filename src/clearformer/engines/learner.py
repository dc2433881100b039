"""The learner: a model's parameters and gradients in flat buffers, a batch split over workers.

Each worker runs its share of the batch beside the others, on a thread or in a process of its own,
with single-threaded products of matrices; the gradients are then added up in a fixed order, so that
the same seed and number of workers give the same bits. What a buffer is made of, and how a worker
runs its share, belongs to an engine: see `engines.numpy.learner` and `engines.torch.learner`.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from functools import partial
from itertools import pairwise
from math import sqrt
from threading import Lock
from typing import Any, Protocol
from weakref import ref

import numpy as np

from clearformer.engines.memory import keep_freed_memory
from clearformer.engines.stacks import Layout, Stack, others, stacks_of
from clearformer.engines.threads import begin_as_one_of_several, over_threads

Loss = Callable[..., Any]
"""loss(model, *arrays, rng) → mean loss over the rows of the arrays, in nats."""

Rngs = Callable[[int], np.random.Generator]
"""Makes the generator with which a worker draws dropout."""


Job = tuple[Sequence[np.ndarray], float, bool, np.random.Generator | None]
"""What a worker is told: see `Worker.run`."""


Share = Callable[[Sequence[float]], None]
"""Shares out pieces of work that cost so much, one against another."""


class Worker(Protocol):
    """One worker's share of the work."""

    gradients: Any
    """A flat buffer of its own."""

    def run(
        self,
        arrays: Sequence[np.ndarray],
        share: float,
        fresh: bool,
        rng: np.random.Generator | None,
    ) -> float:
        """The loss times `share`; its gradient is added to `gradients`, or replaces them."""


class Learner(ABC):
    """Computes losses and gradients of one model.

    Attributes:
        model: the model, for evaluation and generation; its parameters are views of `parameters`.
        parameters: all of them in one buffer, matrices first (weight decay applies to these).
        gradients: the same layout.
        pieces: slices of the buffers for `each`, none of them both matrix and vector.
        matrices: how many numbers belong to matrices.
        hidden: the paths of the matrices between hidden vectors.
        stacks: these matrices, and where they lie.
        others: slices of everything else, none of them both matrix and vector.
        threads: how many share in the work.
    """

    model: Any

    def __init__(self, model: Any, workers: int):
        keep_freed_memory()  # before there are buffers
        named = model.parameters()
        ordered = sorted(named, key=lambda name: named[name].ndim < 2)  # stable: matrices first
        shapes = {name: named[name].shape for name in ordered}
        self._layout = _layout(shapes)
        self.parameters = self.buffer(np.concatenate([named[n].reshape(-1) for n in ordered]))
        self.matrices = sum(int(np.prod(shape)) for shape in shapes.values() if len(shape) > 1)
        total = len(self.parameters)
        self.pieces = _pieces(self.matrices, total, workers)
        self.hidden = model.hidden_matrices()
        self.stacks = stacks_of(self._layout, self.hidden)
        self.others = list(others(self.stacks, (0, self.matrices, total)))
        self.threads = workers
        self._workers: Sequence[Worker] = ()
        self._pool = (
            ThreadPoolExecutor(workers - 1, initializer=self.begin_thread) if workers > 1 else None
        )
        self._fresh = True

    @abstractmethod
    def buffer(self, flat: np.ndarray) -> Any:
        """A flat buffer of the engine with these numbers."""

    @abstractmethod
    def zeros(self) -> Any:
        """A buffer like `parameters`, of zeros."""

    @abstractmethod
    def running(self) -> AbstractContextManager[None]:
        """While training: one thread for the products of each worker."""

    @abstractmethod
    def to_array(self, x: Any) -> np.ndarray:
        """A tensor of the engine as a NumPy array that shares its memory, where that can be."""

    def begin(self, worker: Any, job: Job) -> Callable[[], float]:
        """Has another worker begin; what is returned gives its loss."""
        if self._pool is None:  # one thread does all of it, one after another
            return lambda: worker.run(*job)
        return self._pool.submit(lambda: float(worker.run(*job))).result

    @staticmethod
    def begin_thread() -> None:
        """What each worker thread does first."""
        begin_as_one_of_several()

    @property
    def gradients(self) -> Any:
        """Those of the first worker; after `gather`, of the whole batch."""
        return self._workers[0].gradients

    def is_matrix(self, piece: slice) -> bool:
        """Whether a piece belongs to matrices."""
        return bool(piece.start < self.matrices)

    def view(self, buffer: Any, name: str) -> Any:
        """The part of a flat buffer that belongs to the parameter `name`, in its shape."""
        start, stop, shape = self._layout[name]
        return buffer[start:stop].reshape(shape)

    def named(self, buffer: Any, *, keep: bool = True) -> dict[str, np.ndarray]:
        """Every parameter's part of a flat buffer as a NumPy array, under its path.

        Of several processes that share a model out among them, all must call this; what comes
        together is returned only where `keep` is true.
        """
        if not keep:
            return {}
        return {name: self.to_array(self.view(buffer, name)) for name in self._layout}

    def snapshot(self) -> Any:
        """The model as it is now, in NumPy arrays; they may share its memory."""
        arrays = self.named(self.parameters)
        return self.model.with_parameters(lambda name, _: arrays[name])

    def put(self, buffer: Any, arrays: Mapping[str, np.ndarray]) -> None:
        """Writes what `named` gave back into a buffer.

        Raises:
            ValueError: they are not those of these parameters.
        """
        dtype = self.to_array(buffer[:0]).dtype
        kinds = {name: (shape, dtype) for name, (_, _, shape) in self._layout.items()}
        if kinds != {name: (array.shape, array.dtype) for name, array in arrays.items()}:
            raise ValueError("the arrays are those of other parameters")
        whole = np.concatenate([arrays[name].reshape(-1) for name in self._layout])
        buffer[:] = self.buffer(whole)

    def loss_and_gradients(
        self,
        *arrays: np.ndarray,
        share: float = 1.0,
        rngs: Rngs | None = None,
        last: bool = True,
    ) -> float:
        """Adds `share` times the gradient of the mean loss over the batch to `gradients`.

        Args:
            arrays: each with the batch as its first axis.
            share: what part of a larger batch these rows are, between 0 and 1.
            rngs: makes each worker's generator for dropout.
            last: whether this is the last part of the batch: where several processes train
                together, they exchange gradients then.

        Returns:
            The mean loss over these rows, in nats per token.
        """
        rows = len(arrays[0])
        cuts = [rows * n // len(self._workers) for n in range(len(self._workers) + 1)]

        def job(number: int) -> Job:
            begin, end = cuts[number], cuts[number + 1]
            part = [array[begin:end] for array in arrays]
            rng = rngs(number) if rngs else None
            return part, share * (end - begin) / max(rows, 1), self._fresh, rng

        mine, *others = self._workers
        later = [self.begin(other, job(number)) for number, other in enumerate(others, 1)]
        losses = all_of([lambda: mine.run(*job(0)), *later])
        self._fresh = False
        return sum(losses) / share if share else 0.0

    def gather(self) -> float:
        """Adds up the workers' gradients; returns the norm of the whole, √Σ over all parameters.

        The next `loss_and_gradients` starts from zero.
        """
        others = [worker.gradients for worker in self._workers[1:]]

        def add_up(piece: slice) -> float:
            part = self.gradients[piece]
            for other in others:
                part += other[piece]
            return float(part.dot(part))

        self._fresh = True
        return sqrt(sum(self.each(add_up)))

    def scale(self, factor: float) -> None:
        """Multiplies the gradients by `factor`."""

        def shrink(piece: slice) -> None:
            part = self.gradients[piece]
            part *= factor

        self.each(shrink)

    def each(self, function: Callable[[slice], Any]) -> list[Any]:
        """Runs `function`, which goes through its numbers once, on every piece of the buffers."""
        return self._in_parallel(function, self.pieces)

    def work_through(self, jobs: Sequence[Callable[[], Any]]) -> None:
        """Does all jobs, each of which goes through some numbers once."""
        self._over_threads(jobs)

    def _over_threads(self, jobs: Sequence[Callable[[], Any]]) -> None:
        """Does all jobs; the worker threads take them one by one, the first ones first."""
        waiting, lock = iter(jobs), Lock()

        def work(_: int) -> None:
            while True:
                with lock:
                    job = next(waiting, None)
                if job is None:
                    return
                job()

        self._in_parallel(work, range(self.threads))

    def taught(self, work: Callable[[int], None]) -> Share:
        """Makes a piece of work known to all workers.

        Args:
            work: reads and writes buffers of this learner alone, by its number; a method. Done
                once more, it changes nothing: who does it may be gone half-way.

        Returns:
            A function that has work(0), work(1), … done: so many as it is given costs.
        """
        do = weakly(work)
        return lambda costs: self._over_threads([partial(do, n) for n in range(len(costs))])

    def whole(self, stack: Stack, part: Any) -> Any:
        """The matrices of a stack, from its piece of a buffer like `parameters`."""
        return part.reshape(stack.shape)

    def mine(self, stack: Stack, whole: Any) -> Any:
        """The piece that `whole` was made of."""
        return whole.reshape(-1)

    def spread(self, function: Callable[[Any], Any], items: Iterable[Any]) -> list[Any]:
        """`function(item)` for each item, in order; the threads take the items one by one."""
        return over_threads(function, items, self.threads)

    def _in_parallel(self, function: Callable[[Any], Any], items: Any) -> list[Any]:
        items = list(items)
        if self._pool is None:
            return [function(item) for item in items]
        later = [self._pool.submit(function, item).result for item in items[1:]]
        return all_of([lambda: function(items[0]), *later])


def weakly(work: Callable[[int], None]) -> Callable[[int], None]:
    """The same method, without holding its object: who teaches a learner also holds it."""
    # no WeakMethod: it has code of its own run at its end, in which Ctrl-C would be told and lost
    known, function = ref(work.__self__), work.__func__  # type: ignore[attr-defined]

    def do(piece: int) -> None:
        thing = known()
        if thing is None:
            raise ReferenceError("who taught this is gone")
        function(thing, piece)

    return do


def all_of(results: Iterable[Callable[[], Any]]) -> list[Any]:
    """All results; each is waited for, also after a mistake: nothing may go on writing."""
    found, mistakes = list[Any](), list[BaseException]()
    for result in results:
        try:
            found.append(result())
        except BaseException as mistake:
            mistakes.append(mistake)
    if mistakes:
        raise mistakes[0]
    return found


def _layout(shapes: Mapping[str, tuple[int, ...]]) -> Layout:
    """The parameters one after another."""
    layout, start = dict[str, tuple[int, int, tuple[int, ...]]](), 0
    for name, shape in shapes.items():
        stop = start + int(np.prod(shape))
        layout[name] = (start, stop, shape)
        start = stop
    return layout


def _pieces(matrices: int, total: int, workers: int) -> list[slice]:
    """The matrices cut in `workers` equal slices, then the vectors in one."""
    cuts = [matrices * n // workers for n in range(workers + 1)]
    pieces = [slice(a, b) for a, b in pairwise(cuts) if a < b]
    return [*pieces, slice(matrices, total)] if matrices < total else pieces
