"""The learner in PyTorch: each worker has leaves of its own, which share the parameters' memory.

On a processor a batch is split over threads, with one thread for the products of each: measured on
two processors, that took 0.8 of the time of PyTorch's own threads, which wait for each other after
every operation. On another device there is one worker.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any

import numpy as np
import torch
from torch.nn import Parameter

from clearformer.engines import learner
from clearformer.engines.learner import Loss
from clearformer.engines.threads import one_blas_thread
from clearformer.engines.torch.arrays import to_array
from clearformer.engines.torch.compiling import Traced, compiling


class Learner(learner.Learner):
    """Computes losses and gradients of one model.

    Args:
        model: in NumPy arrays; its numbers are copied to the device.
        loss: of the model on a batch.
        workers: threads that share a batch.
        device: where: cpu, cuda, cuda:1, mps.
        precision: of the products: float32 or bfloat16. Parameters, gradients and whatever is added
            up stay in float32; in bfloat16, workers read matrices from a copy that is renewed at
            each step.
        compiled: whether the loss is compiled into fewer, larger kernels.
    """

    def __init__(
        self,
        model: Any,
        loss: Loss,
        workers: int = 1,
        *,
        device: str = "cpu",
        precision: str = "float32",
        compiled: bool = False,
    ):
        self._device = torch.device(device)
        whole = bool(model.in_one_piece) and not compiled and self._device.type == "cpu"
        self._inner_threads = workers if whole else 1
        workers = 1 if whole else workers
        super().__init__(model, workers)
        self.model = model.with_parameters(lambda name, _: self.view(self.parameters, name))
        self._narrow = (
            torch.empty(self.matrices, dtype=torch.bfloat16, device=self._device)
            if precision == "bfloat16"
            else None
        )
        self._compiled = compiled
        self._met: set[Any] = set()
        self._loss: Loss = Traced(loss) if compiled else loss
        self._workers = [Worker(self, self._loss, self._narrow) for _ in range(workers)]

    def buffer(self, flat: np.ndarray) -> torch.Tensor:
        """A copy on the device."""
        return torch.tensor(flat, device=self._device)

    def zeros(self) -> torch.Tensor:
        """A tensor of zeros."""
        return torch.zeros_like(self.parameters)

    def to_array(self, x: torch.Tensor) -> np.ndarray:
        """The tensor as an array; shared on a processor, copied from elsewhere."""
        return to_array(x)

    @staticmethod
    def begin_thread() -> None:
        """One thread for the products of each worker."""
        learner.Learner.begin_thread()
        torch.set_num_threads(1)

    def loss_and_gradients(self, *arrays: np.ndarray, **options: Any) -> float:
        """As every learner; the first part of a step renews the narrow copy of the matrices."""
        if self._narrow is not None and self._fresh:
            self._narrow.copy_(self.parameters[: self.matrices])
        shapes = tuple(array.shape for array in arrays)
        if self._compiled and shapes not in self._met:  # compiled here, one worker after another
            self._met.add(shapes)
            with compiling(), self._one_after_another():
                return super().loss_and_gradients(*arrays, **options)
        return super().loss_and_gradients(*arrays, **options)

    @contextmanager
    def _one_after_another(self) -> Iterator[None]:
        pool, self._pool = self._pool, None
        try:
            yield
        finally:
            self._pool = pool

    @contextmanager
    def running(self) -> Iterator[None]:
        """While training: one thread per worker, or all for one."""
        with one_blas_thread() if self._device.type == "cpu" else nullcontext():
            if self._inner_threads > 1:
                torch.set_num_threads(self._inner_threads)
            yield


class Worker:
    """One thread's leaves, and its share of the gradients."""

    def __init__(self, learner: Learner, loss: Loss, narrow: torch.Tensor | None):
        self.loss = loss
        self.gradients = learner.zeros()
        self._narrow_leaves: list[tuple[torch.Tensor, torch.Tensor]] = []

        def leaf_of(name: str, parameter: torch.Tensor) -> torch.Tensor:
            view = learner.view(self.gradients, name)
            if narrow is not None and parameter.ndim > 1:
                leaf = Parameter(learner.view(narrow, name).detach())
                self._narrow_leaves.append((leaf, view))
            else:
                leaf = Parameter(parameter.detach())
                leaf.grad = view  # backwards adds to it in place
            return leaf

        self.model = learner.model.with_parameters(leaf_of)

    def run(
        self,
        arrays: Sequence[np.ndarray],
        share: float,
        fresh: bool,
        rng: np.random.Generator | None,
    ) -> float:
        """The loss times `share`; its gradient goes into `gradients`."""
        if fresh:
            self.gradients.zero_()
        if not len(arrays[0]):
            return 0.0
        loss = self.loss(self.model, *arrays, rng) * share
        loss.backward()
        self.take_narrow_gradients()
        return float(loss.detach())

    def take_narrow_gradients(self) -> None:
        """Adds the gradients of the narrow copy to those in float32."""
        for leaf, view in self._narrow_leaves:
            if leaf.grad is not None:
                view.add_(leaf.grad)
                leaf.grad = None

    def give_narrow_gradients(self) -> None:
        """The opposite: what was added up in float32, rounded once, for whom works on the copy."""
        for leaf, view in self._narrow_leaves:
            leaf.grad = view.to(leaf.dtype)
            view.zero_()
