"""Ranks: the processes that train one model together. Mostly there is one, as here.

`engines.torch.ranks` is the same for several. `torchrun` tells each process by its environment
which one it is.
"""

import os
from collections.abc import Callable
from types import TracebackType
from typing import TypeVar

import numpy as np

from clearformer.errors import ConfigurationError

Plain = TypeVar("Plain")
"""Something that JSON can hold, so that it travels between processes."""

MOST_PROCESSES = 1_000_000
"""Far more than ever train together; more is a slip."""

LONGEST_NUMBER = 9
"""Digits of a number in the environment."""


class Alone:
    """The only process of a run; a context that is left when the run is over."""

    rank = 0
    """Which of them this is; rank 0 writes."""

    ranks = 1
    """How many there are."""

    def same(self, number: float) -> float:
        """The number that rank 0 gave: what is decided by the clock, all must decide alike."""
        return number

    def total(self, number: float) -> float:
        """The sum over all ranks."""
        return number

    def added_up(self, array: np.ndarray) -> np.ndarray:
        """The sum over all ranks, number by number."""
        return array

    def largest(self, number: int) -> int:
        """The largest over all ranks."""
        return number

    def first(self, function: Callable[[], Plain]) -> Plain:
        """What `function` returns or raises on rank 0, which alone calls it; plain JSON."""
        return function()

    def __enter__(self) -> "Alone":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Leaves the others."""


def processes_here() -> int:
    """How many processes `torchrun` has started together; 1 without it.

    Raises:
        ConfigurationError: what it is told by is no number.
    """
    value = os.environ.get("WORLD_SIZE") or "1"
    if not (_is_number(value) and 1 <= int(value) <= MOST_PROCESSES):
        raise ConfigurationError(
            f"the environment variable WORLD_SIZE must be the number of processes that torchrun "
            f"has started; got {value!r}; unset it"
        )
    return int(value)


def rank_here() -> int:
    """Which of the processes that `torchrun` has started this one is; 0 without it."""
    return _place("RANK")


def place_here() -> int:
    """Which of the processes on this machine this one is; 0 without `torchrun`."""
    return _place("LOCAL_RANK")


def processes_on_machine() -> int:
    """How many of the processes are on this machine; 1 without `torchrun`."""
    return max(_place("LOCAL_WORLD_SIZE"), 1)


def torchrun_passes_signals_on() -> bool:
    """Whether Ctrl-C in a terminal comes twice: to all processes, and from `torchrun` again."""
    return "LOCAL_WORLD_SIZE" in os.environ


def command_here() -> str:
    """What starts this program again as it was started: by itself, or in as many processes."""
    ranks = processes_here()
    if ranks == 1:
        return "clearformer"
    here = processes_on_machine()
    return f"torchrun {f'--nproc-per-node {here}' if here == ranks else '…'} -m clearformer"


def _place(name: str) -> int:
    value = os.environ.get(name, "")
    return int(value) if _is_number(value) and "WORLD_SIZE" in os.environ else 0


def _is_number(value: str) -> bool:
    return value.isascii() and value.isdigit() and len(value) <= LONGEST_NUMBER
