"""Threads: how many a product of matrices uses, and work that is spread over several."""

import os
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache
from threading import Lock, local, main_thread
from typing import Any

import numpy as np

from clearformer.engines.processor import made_by_amd

MOST_WORKERS = 8
"""More workers than this gain little on models of a laptop's size."""

LARGE = 20_000_000
"""Parameters from which one row times the weights is worth sharing out over threads."""


def processors() -> int:
    """How many processors this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on every system
        return os.cpu_count() or 1


def suitable_workers(batch: int) -> int:
    """Workers that share a batch: one per processor, none without a row."""
    return max(1, min(processors(), batch, MOST_WORKERS))


def _loaded_blas() -> Any:
    """The libraries of matrix products that are loaded; PyTorch may bring one of its own."""
    return _blas(_torch() is not None)


@cache
def _blas(_with_torch: bool) -> Any:
    """Kept, because looking through what is loaded takes longer than a small product."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController().select(user_api="blas")


def _threads_of(blas: Any) -> int:
    """How many a product has; one per processor where no library tells."""
    return min((each.num_threads for each in blas.lib_controllers), default=processors())


SMALL_KERNELS = {"SkylakeX", "Cooperlake", "SapphireRapids"}
"""For these OpenBLAS has ways to multiply small matrices without copying them."""


@cache
def small_products_pay() -> bool:
    """Whether NumPy multiplies with such a library, on a processor where they are the quicker ways.

    On AMD's they are, by a sixth; on Intel's they are slower by a third.
    """
    found = [each for each in _blas(False).lib_controllers if each.internal_api == "openblas"]
    known = bool(found) and all(each.architecture in SMALL_KERNELS for each in found)
    return known and made_by_amd()


class _Limit:
    """One BLAS thread for the process, while any of its threads wants that.

    Attributes:
        small_products: whether products are quicker in small pieces meanwhile.
    """

    def __init__(self) -> None:
        self.small_products = False
        self._wanted_by = 0
        self._lock = Lock()
        self._before: Any = None
        self._threads_before = 1
        self._of_torch: int | None = None
        self._mine = local()

    def enter(self) -> None:
        with self._lock:
            if not self._wanted_by:
                blas = _loaded_blas()
                self._threads_before = _threads_of(blas)
                self._before = blas.limit(limits=1)
                self.small_products = small_products_pay()
            self._wanted_by += 1
            if torch := _torch():
                number = torch.get_num_threads()
                self._of_torch = self._of_torch or number
                self._within().append(number)
                torch.set_num_threads(1)  # each thread has a number of its own there
            else:
                self._within().append(None)

    def threads_without(self) -> int:
        """How many threads a product has, or had before."""
        with self._lock:
            return self._threads_before if self._wanted_by else _threads_of(_loaded_blas())

    def leave(self) -> None:
        with self._lock:
            self._wanted_by -= 1
            within = self._within()
            number = within.pop() if within else None
            if self._of_torch:  # a thread that is still inside goes on with what it had there
                _torch().set_num_threads(number if within and number else self._of_torch)
            if not self._wanted_by:
                self._take_back()

    def forked(self) -> None:
        """In a child there is no thread but the one that forked: nobody else wants the limit."""
        self._lock, wanted_by = Lock(), self._wanted_by
        self._wanted_by = len(self._within())
        if wanted_by and not self._wanted_by:
            self._take_back()

    def _take_back(self) -> None:
        self.small_products = False
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


limit = _Limit()
"""That of this process."""


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Inside, each product runs on the thread that asks for it, in PyTorch too if it is loaded.

    Of several threads that are inside, the first sets the limit and the last takes it back.
    """
    limit.enter()
    try:
        yield
    finally:
        limit.leave()


def threads_for_generation(parameters: int) -> AbstractContextManager[None]:
    """One BLAS thread for a small model: its products are too short to be shared out.

    Waking a second thread for each costs more than it saves, many times more on a busy machine.
    """
    return nullcontext() if parameters >= LARGE else one_blas_thread()


_here = local()


@contextmanager
def one_of_several() -> Iterator[None]:
    """Inside, this thread is one of those that share some work: it starts no further ones."""
    before = getattr(_here, "one_of_several", False)
    _here.one_of_several = True
    try:
        yield
    finally:
        _here.one_of_several = before


def threads_allowed() -> int:
    """How many threads this one may share its work with, itself counted.

    As many as products of matrices have where nobody has set a limit; none but itself where it is
    one of several already, or where the interpreter ends and starts none any more.
    """
    if getattr(_here, "one_of_several", False) or not main_thread().is_alive():
        return 1
    return min(limit.threads_without(), processors(), MOST_WORKERS)


def begin_as_one_of_several() -> None:
    """What each thread that is started for a share of some work does first.

    What is not finite is looked for; NumPy need not warn of it.
    """
    np.seterr(over="ignore", invalid="ignore", divide="ignore")
    _here.one_of_several = True


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
        with ThreadPoolExecutor(count, initializer=begin_as_one_of_several) as pool:
            list(pool.map(work, range(count)))  # raises what a thread has raised
    return [results[number] for number in range(len(results))]


def share_out(begin: Callable[[], Callable[[Any], None]], jobs: Sequence[Any]) -> None:
    """Does all jobs, on as many threads as are allowed; each takes the next one from the first on.

    Args:
        begin: called once by each thread; gives what does a job, with room of its own.
        jobs: none depends on another.
    """
    waiting, count = deque(jobs), min(threads_allowed(), len(jobs))

    def work() -> None:
        do = begin()
        while waiting:
            try:
                job = waiting.popleft()
            except IndexError:  # another thread was quicker
                return
            do(job)

    if count <= 1:
        work()
        return
    with one_blas_thread():
        others = [_kept_pool().submit(work) for _ in range(count - 1)]
        try:
            work()
        finally:
            waiting.clear()  # after a mistake nobody begins another
            wait(others)
    for other in others:
        other.result()  # raises what a thread has raised


@cache
def _kept_pool() -> ThreadPoolExecutor:
    """Threads that wait for the next call: to start one takes as long as a short attention."""
    return ThreadPoolExecutor(MOST_WORKERS - 1, "", begin_as_one_of_several)


if hasattr(os, "register_at_fork"):  # a child has none of these threads
    os.register_at_fork(after_in_child=_kept_pool.cache_clear)
    os.register_at_fork(after_in_child=limit.forked)


def spread_of(model: Any) -> Callable[[Callable[[Any], Any], Iterable[Any]], Iterable[Any]]:
    """How pieces of work with a model are gone through: on a processor over threads."""
    devices = {str(parameter.device) for parameter in model.parameters().values()}
    return over_threads if devices == {"cpu"} else map
