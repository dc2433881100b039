"""Every rank has the whole model and learns from its own rows of the batch (DDP).

(Li et al., "PyTorch Distributed: Experiences on Accelerating Data Parallel Training", 2020.)
"""

from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from typing import Any

import numpy as np
import torch
from torch.nn.parallel import DistributedDataParallel

from clearformer.engines.learner import Loss
from clearformer.engines.ranks import Alone
from clearformer.engines.torch.held import Held
from clearformer.engines.torch.learner import Learner, Worker
from clearformer.engines.torch.rounds import over_ranks, something_to_do


class Replicated(Learner):
    """The learner of one rank; the gradient is that of the whole batch on each of them."""

    def __init__(self, model: Any, loss: Loss, ranks: Alone, **options: Any):
        super().__init__(model, loss, 1, **options)
        self._worker = _Worker(self, self._loss, self._narrow, ranks.ranks)
        self._workers = [self._worker]

    def loss_and_gradients(self, *arrays: np.ndarray, last: bool = True, **options: Any) -> float:
        """As every learner; gradients are exchanged, while they are computed, in the last part."""
        self._worker.last = last
        return super().loss_and_gradients(*arrays, last=last, **options)

    def spread(self, function: Callable[[Any], Any], items: Iterable[Any]) -> list[Any]:
        """`function(item)` for each item, in order; the ranks share them out."""
        return over_ranks(function, items)


class _Worker(Worker):
    def __init__(self, learner: Learner, loss: Loss, narrow: torch.Tensor | None, ranks: int):
        super().__init__(learner, loss, narrow)
        self.last = True
        self._ranks = ranks
        self._together = DistributedDataParallel(_LossOf(self.model, loss))

    def run(
        self,
        arrays: Sequence[np.ndarray],
        share: float,
        fresh: bool,
        rng: np.random.Generator | None,
    ) -> float:
        """The loss times `share`; DDP gives the mean over the ranks, so each weighs as all."""
        if fresh:
            self.gradients.zero_()
        elif self.last:
            self.give_narrow_gradients()
        with nullcontext() if self.last else self._together.no_sync():
            loss = self._together(*something_to_do(arrays), rng) * share
            (loss * self._ranks).backward()
        self.take_narrow_gradients()
        return float(loss.detach())


class _LossOf(Held):
    """The loss of a model, as a module."""

    def __init__(self, model: Any, loss: Loss):
        super().__init__(model)
        self._model, self._loss = model, loss

    def forward(self, *arguments: Any) -> Any:
        """loss(model, *arrays, rng)."""
        return self._loss(self._model, *arguments)
