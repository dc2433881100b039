"""Threads: how many a product of matrices uses, and work that is spread over several."""

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from threading import Lock, local
from typing import Any

import numpy as np

MOST_WORKERS = 8
"""More threads than this gain little on models of a laptop's size."""

LARGE = 20_000_000
"""Parameters from which one row times the weights is worth sharing out over threads."""


def processors() -> int:
    """How many processors this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on every system
        return os.cpu_count() or 1


def suitable_workers(batch: int) -> int:
    """Threads that share a batch: one per processor, none without a row."""
    return max(1, min(processors(), batch, MOST_WORKERS))


class _Limit:
    """One BLAS thread for the process, while any of its threads wants that."""

    def __init__(self) -> None:
        self._wanted_by = 0
        self._lock = Lock()
        self._before: Any = None
        self._of_torch: int | None = None
        self._mine = local()

    def enter(self) -> None:
        from threadpoolctl import threadpool_limits

        with self._lock:
            if not self._wanted_by:
                self._before = threadpool_limits(limits=1, user_api="blas")
            self._wanted_by += 1
            if torch := _torch():
                number = torch.get_num_threads()
                self._of_torch = self._of_torch or number
                self._within().append(number)
                torch.set_num_threads(1)  # each thread has a number of its own there
            else:
                self._within().append(None)

    def leave(self) -> None:
        with self._lock:
            self._wanted_by -= 1
            within = self._within()
            number = within.pop() if within else None
            if self._of_torch:  # a thread that is still inside goes on with what it had there
                _torch().set_num_threads(number if within and number else self._of_torch)
            if not self._wanted_by:
                self._before.restore_original_limits()
                self._of_torch = None

    def _within(self) -> list[int | None]:
        """For each time that this thread is inside: PyTorch's number as it came."""
        if not hasattr(self._mine, "numbers"):
            self._mine.numbers = []
        found: list[int | None] = self._mine.numbers
        return found


def _torch() -> Any:
    """PyTorch if it has been loaded; who has not loaded it computes nothing with it."""
    torch = sys.modules.get("torch")
    return torch if hasattr(torch, "set_num_threads") else None


_limit = _Limit()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Inside, each product runs on the thread that asks for it, in PyTorch too if it is loaded.

    Of several threads that are inside, the first sets the limit and the last takes it back.
    """
    _limit.enter()
    try:
        yield
    finally:
        _limit.leave()


def threads_for_generation(parameters: int) -> AbstractContextManager[None]:
    """One BLAS thread for a small model: its products are too short to be shared out.

    Waking a second thread for each costs more than it saves, many times more on a busy machine.
    """
    return nullcontext() if parameters >= LARGE else one_blas_thread()


def keep_silent() -> None:
    """For threads that compute: what is not finite is looked for; NumPy need not warn of it."""
    np.seterr(over="ignore", invalid="ignore", divide="ignore")


def over_threads(
    function: Callable[[Any], Any], items: Iterable[Any], workers: int | None = None
) -> list[Any]:
    """`function(item)` for each item, in order; threads take the items one by one.

    Args:
        function: called from several threads at once.
        items: may be made one by one; no more of them exist at once than there are threads.
        workers: threads; None for one per processor.
    """
    waiting, results, lock = enumerate(items), dict[int, Any](), Lock()

    def work(_: int) -> None:
        while True:
            with lock:
                number, item = next(waiting, (-1, None))
            if number < 0:
                return
            results[number] = function(item)

    count = workers or processors()
    if count == 1:
        work(0)
    else:
        with ThreadPoolExecutor(count, initializer=keep_silent) as pool:
            list(pool.map(work, range(count)))  # raises what a thread has raised
    return [results[number] for number in range(len(results))]


def spread_of(model: Any) -> Callable[[Callable[[Any], Any], Iterable[Any]], Iterable[Any]]:
    """How pieces of work with a model are gone through: on a processor over threads."""
    devices = {str(parameter.device) for parameter in model.parameters().values()}
    return over_threads if devices == {"cpu"} else map
