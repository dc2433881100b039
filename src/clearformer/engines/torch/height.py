"""How much memory some work takes, at its height."""

from collections.abc import Callable
from typing import Any

from torch import Tensor
from torch.multiprocessing.reductions import StorageWeakRef
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves


def height_of(work: Callable[[], Any]) -> int:
    """Bytes of all tensors that this work had at once, on whatever device.

    What an operation of PyTorch needs for itself, and gives back before it ends, is not seen; nor
    is what other threads do.
    """
    with _Counting() as counting:
        kept = work()  # kept until the height is read
        del kept
    return counting.height


class _Counting(TorchDispatchMode):  # type: ignore[misc]  # PyTorch's types are not read
    """Meets every tensor that an operation takes or gives, and knows when its memory is freed."""

    def __init__(self) -> None:
        super().__init__()
        self.height = 0
        self._living: dict[StorageWeakRef, int] = {}

    def __torch_dispatch__(
        self, function: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        given = kwargs or {}
        result = function(*args, **given)
        known = len(self._living)
        for leaf in tree_leaves((args, given, result)):
            if isinstance(leaf, Tensor):
                storage = leaf.untyped_storage()
                self._living.setdefault(StorageWeakRef(storage), storage.nbytes())
        if len(self._living) > known:
            self._living = {at: size for at, size in self._living.items() if not at.expired()}
            self.height = max(self.height, sum(self._living.values()))
        return result
