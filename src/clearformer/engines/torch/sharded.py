"""Every rank holds a part of each parameter, for models that do not fit on one device (FSDP2).

A block's parameters are gathered from all ranks when it is called, and let go afterwards; each rank
keeps, and updates, its own part of the weights, gradients and averages. (Rajbhandari et al.,
"ZeRO", 2020, stage 3; Zhao et al., "PyTorch FSDP", 2023.)
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from math import sqrt
from typing import Any

import numpy as np
import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
from torch.distributed.tensor import DTensor, distribute_tensor

from clearformer.engines.learner import Loss, Rngs, Share, weakly
from clearformer.engines.memory import keep_freed_memory
from clearformer.engines.ranks import Alone
from clearformer.engines.stacks import Stack
from clearformer.engines.torch.arrays import to_array
from clearformer.engines.torch.held import HeldModel
from clearformer.engines.torch.rounds import over_ranks, something_to_do

Buffer = dict[str, torch.Tensor]
"""This rank's part of each parameter, flat, under its path."""


class Sharded:
    """The learner of one rank; see `engines.learner.Learner` for what its methods mean.

    Attributes:
        model: calls the sharded model; every rank must call it equally often.
        parameters: this rank's part of each.
        gradients: the same, after `gather`.
        pieces: their paths.
        hidden: those of the matrices between hidden vectors.
        stacks: these matrices, each for itself.
        others: the paths of everything else.
    """

    def __init__(
        self, model: Any, loss: Loss, ranks: Alone, *, device: str, precision: str = "float32"
    ):
        self._device, self._ranks, self._loss = torch.device(device), ranks.ranks, loss
        # PyTorch moves a block to the device when it shards it: never all of them are there
        self._held = HeldModel(model.with_parameters(lambda _, array: torch.tensor(array)))
        self._shard(precision)
        self._skeleton = model.with_parameters(lambda _, array: np.broadcast_to(0, array.shape))
        self._leaves = self._held.named_leaves()
        self._sharded: dict[str, DTensor] = {
            path: getattr(module, name) for path, (module, name) in self._leaves.items()
        }
        self.pieces = list(self._sharded)
        self.hidden = model.hidden_matrices()
        self.stacks = tuple(Stack(path, (1, *self._sharded[path].shape)) for path in self.hidden)
        self.others = [path for path in self.pieces if path not in set(self.hidden)]
        self.parameters: Buffer = {
            path: x.to_local().detach().view(-1) for path, x in self._sharded.items()
        }
        self.gradients = self.zeros()
        self._fresh = True

    def _shard(self, precision: str) -> None:
        mesh = init_device_mesh(self._device.type, (self._ranks,))
        policy = MixedPrecisionPolicy(cast_forward_inputs=False)
        if precision == "bfloat16":
            policy = MixedPrecisionPolicy(torch.bfloat16, torch.float32, cast_forward_inputs=False)
        for modules in self._held.repeated.values():
            for module in modules:
                fully_shard(module, mesh=mesh, mp_policy=policy)
        # let go also after a forward pass without a backward one: an evaluation would leave behind
        # whole parameters that the next step takes for current
        fully_shard(self._held, mesh=mesh, mp_policy=policy, reshard_after_forward=True)

    def model(self, ids: Any, **options: Any) -> Any:
        """Logits."""
        return self._held(lambda model, given, **others: model(given, **others), ids, **options)

    def is_matrix(self, piece: str) -> bool:
        """Whether a piece belongs to a matrix."""
        return bool(self._sharded[piece].ndim > 1)

    def zeros(self) -> Buffer:
        """A buffer like `parameters`, of zeros."""
        return {path: torch.zeros_like(part) for path, part in self.parameters.items()}

    def named(self, buffer: Buffer, *, keep: bool = True) -> dict[str, np.ndarray]:
        """Every parameter, whole, as a NumPy array; the ranks put their parts together, one by one.

        Ranks that do not `keep` them hold one whole parameter at a time.
        """
        found = {}
        for path in self.pieces:
            whole = self._whole(path, buffer[path])
            if keep:
                found[path] = to_array(whole)
        return found

    def _whole(self, path: str, part: torch.Tensor) -> torch.Tensor:
        x = self._sharded[path]
        together: torch.Tensor = DTensor.from_local(
            part.view(x.to_local().shape),
            x.device_mesh,
            x.placements,
            shape=x.shape,
            stride=x.stride(),
        ).full_tensor()
        return together

    def _part(self, path: str, whole: torch.Tensor) -> torch.Tensor:
        x = self._sharded[path]
        part = distribute_tensor(whole, x.device_mesh, x.placements, src_data_rank=None)
        mine: torch.Tensor = part.to_local().view(-1)
        return mine

    def snapshot(self) -> Any:
        """The model as it is now, in NumPy arrays."""
        arrays = self.named(self.parameters)
        return self._skeleton.with_parameters(lambda path, _: arrays[path])

    def put(self, buffer: Buffer, arrays: Mapping[str, np.ndarray]) -> None:
        """Takes this rank's parts of whole parameters.

        Raises:
            ValueError: they are not those of these parameters.
        """
        kinds = {path: (*array.shape, f"torch.{array.dtype}") for path, array in arrays.items()}
        if kinds != {path: (*x.shape, str(x.dtype)) for path, x in self._sharded.items()}:
            raise ValueError("the arrays are those of other parameters")
        for path in self.pieces:
            whole = torch.tensor(arrays[path], device=self._device)
            buffer[path].copy_(self._part(path, whole))

    def loss_and_gradients(
        self,
        *arrays: np.ndarray,
        share: float = 1.0,
        rngs: Rngs | None = None,
        last: bool = True,
    ) -> float:
        """As every learner; gradients are exchanged in the last part of a batch."""
        if self._fresh:
            self._held.zero_grad(set_to_none=True)
            self._fresh = False
        self._held.set_requires_gradient_sync(last)
        loss = self._held(self._loss, *something_to_do(arrays), rngs(0) if rngs else None)
        (loss * (share * self._ranks)).backward()
        return float(loss.detach()) if share else 0.0

    def gather(self) -> float:
        """The norm of the gradient over all parameters and ranks."""
        self._fresh = True
        for path, x in self._sharded.items():
            self.gradients[path] = x.grad.to_local().view(-1)
        squares = [part.dot(part).double() for part in self.gradients.values()]
        total = torch.stack(squares).sum().cpu()  # waits for the device once
        dist.all_reduce(total)
        return sqrt(float(total))

    def scale(self, factor: float) -> None:
        """Multiplies the gradients by `factor`."""
        for part in self.gradients.values():
            part.mul_(factor)

    def each(self, function: Callable[[str], Any]) -> list[Any]:
        """Runs `function` on every piece."""
        return [function(piece) for piece in self.pieces]

    def work_through(self, jobs: Sequence[Callable[[], Any]]) -> None:
        """Does all jobs one after another: every rank the same ones."""
        for job in jobs:
            job()

    def taught(self, work: Callable[[int], None]) -> Share:
        """A function that does so many pieces one after another: every rank the same ones."""
        do = weakly(work)
        return lambda costs: self.work_through([partial(do, n) for n in range(len(costs))])

    def whole(self, stack: Stack, part: torch.Tensor) -> torch.Tensor:
        """The matrix of a stack; the ranks put their parts together, and all have it."""
        return self._whole(stack.piece, part)[None]

    def mine(self, stack: Stack, whole: torch.Tensor) -> torch.Tensor:
        """This rank's part."""
        return self._part(stack.piece, whole[0])

    def spread(self, function: Callable[[Any], Any], items: Iterable[Any]) -> list[Any]:
        """`function(item)` for each item, in order; the ranks share them out."""

        def unrecorded(item: Any) -> Any:
            with torch.no_grad():
                return function(item)

        return over_ranks(unrecorded, items)

    @contextmanager
    def running(self) -> Iterator[None]:
        """While training: freed memory is kept for reuse."""
        keep_freed_memory()
        yield
