"""The learner: a model's parameters and gradients in flat buffers, a batch split over threads.

Each worker thread runs its share of the batch on a tape of its own, with single-threaded BLAS; the
gradients are then added up in a fixed order, so that the same seed and number of workers give the
same bits.
"""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from itertools import pairwise
from math import sqrt
from typing import Any

import numpy as np

from clearformer.engines.numpy.memory import keep_freed_memory
from clearformer.engines.tape import Tape
from clearformer.engines.threads import keep_silent, one_blas_thread, over_threads

Loss = Callable[..., Any]
"""loss(model, *arrays, rng) → mean loss over the rows of the arrays, in nats."""


class Learner:
    """Computes losses and gradients of one model.

    Attributes:
        model: the model; its parameters are views into `parameters`.
        parameters: all of them in one buffer, matrices first (weight decay applies to these).
        gradients: the same layout.
        pieces: slices of the buffers for `each`, none of them both matrix and vector.
    """

    def __init__(self, model: Any, loss: Loss, workers: int = 1):
        named = model.parameters()
        ordered = sorted(named, key=lambda name: named[name].ndim < 2)  # stable: matrices first
        self.parameters = np.concatenate([named[name].reshape(-1) for name in ordered])
        shapes = {name: named[name].shape for name in ordered}
        self._layout = _layout(shapes)
        self.model = model.with_parameters(lambda name, _: self.view(self.parameters, name))
        self.matrices = sum(int(np.prod(shape)) for shape in shapes.values() if len(shape) > 1)
        self._workers = [_Worker(self, loss) for _ in range(workers)]
        self.gradients = self._workers[0].gradients
        self.pieces = _pieces(self.matrices, len(self.parameters), workers)
        self._pool = (
            ThreadPoolExecutor(workers - 1, initializer=keep_silent) if workers > 1 else None
        )
        self._fresh = True

    def view(self, buffer: np.ndarray, name: str) -> np.ndarray:
        """The part of a flat buffer that belongs to the parameter `name`, in its shape."""
        start, stop, shape = self._layout[name]
        return buffer[start:stop].reshape(shape)

    def named(self, buffer: np.ndarray) -> dict[str, np.ndarray]:
        """Every parameter's part of a flat buffer, under its path."""
        return {name: self.view(buffer, name) for name in self._layout}

    def loss_and_gradients(
        self,
        *arrays: np.ndarray,
        share: float = 1.0,
        rngs: Callable[[int], np.random.Generator] | None = None,
    ) -> float:
        """Adds `share` times the gradient of the mean loss over the batch to `gradients`.

        Args:
            arrays: each with the batch as its first axis.
            share: what part of a larger batch these rows are, between 0 and 1.
            rngs: makes each worker's generator for dropout.

        Returns:
            The mean loss over these rows, in nats per token.
        """
        rows = len(arrays[0])
        cuts = [rows * n // len(self._workers) for n in range(len(self._workers) + 1)]

        def run(number: int) -> float:
            begin, end = cuts[number], cuts[number + 1]
            part = [array[begin:end] for array in arrays]
            rng = rngs(number) if rngs else None
            return self._workers[number].run(part, share * (end - begin) / rows, self._fresh, rng)

        losses = self._in_parallel(run, range(len(self._workers)))
        self._fresh = False
        return sum(losses) / share

    def gather(self) -> float:
        """Adds up the workers' gradients; returns the norm of the whole, Σ over all parameters.

        The next `loss_and_gradients` starts from zero.
        """
        others = [worker.gradients for worker in self._workers[1:]]

        def add_up(piece: slice) -> float:
            for other in others:
                self.gradients[piece] += other[piece]
            part = self.gradients[piece]
            return float(np.dot(part, part))

        self._fresh = True
        return sqrt(sum(self.each(add_up)))

    def each(self, function: Callable[[slice], Any]) -> list[Any]:
        """Runs `function` on every piece of the flat buffers, over the worker threads."""
        return self._in_parallel(function, self.pieces)

    def spread(self, function: Callable[[Any], Any], items: Iterable[Any]) -> list[Any]:
        """`function(item)` for each item, in order; the threads take the items one by one."""
        return over_threads(function, items, len(self._workers))

    @contextmanager
    def running(self) -> Iterator[None]:
        """While training: one BLAS thread per worker, and freed memory is kept for reuse."""
        keep_freed_memory()
        with one_blas_thread():
            yield

    def _in_parallel(self, function: Callable[[Any], Any], items: Any) -> list[Any]:
        items = list(items)
        if self._pool is None:
            return [function(item) for item in items]
        later = [self._pool.submit(function, item) for item in items[1:]]
        try:
            first = function(items[0])
        finally:
            wait(later)  # also after a mistake nothing may go on writing
        return [first, *(future.result() for future in later)]


class _Worker:
    """One thread's tape, and its share of the gradients."""

    def __init__(self, learner: Learner, loss: Loss):
        self._tape = Tape()
        self._loss = loss
        self._model = learner.model.with_parameters(lambda _, array: self._tape.watch(array))
        self._leaves = self._model.parameters()
        self.gradients = np.zeros_like(learner.parameters)
        self._views = learner.named(self.gradients)

    def run(
        self, arrays: list[np.ndarray], share: float, fresh: bool, rng: np.random.Generator | None
    ) -> float:
        """The loss times `share`; its gradient goes into `gradients`."""
        if not len(arrays[0]):
            if fresh:
                self.gradients[:] = 0
            return 0.0
        loss = self._loss(self._model, *arrays, rng)
        self._tape.backward(loss, share)
        for name, leaf in self._leaves.items():
            view, gradient = self._views[name], self._tape.gradient(leaf)
            if fresh:
                view[...] = gradient
            else:
                view += gradient
        self._tape.forget(keep=len(self._leaves))
        return float(loss.data) * share


def _layout(
    shapes: dict[str, tuple[int, ...]],
) -> dict[str, tuple[int, int, tuple[int, ...]]]:
    """Where each parameter lies in the flat buffer: start, stop, shape."""
    layout, start = {}, 0
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
