"""Threads: how many NumPy's matrix products use, and work that is spread over several."""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from threading import Lock
from typing import Any

import numpy as np

from clearformer.engines.choose import processors

LARGE = 20_000_000
"""Parameters from which one row times the weights is worth sharing out over threads."""


_inside: list[object] = []
"""Who needs one BLAS thread now; the limit holds for the process, not for one of its threads."""
_limit: list[Any] = []
_lock = Lock()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Inside, each product runs on the thread that asks for it.

    Of several threads that are inside, the first sets the limit and the last takes it back.
    """
    from threadpoolctl import threadpool_limits

    me = object()
    with _lock:
        if not _inside:
            _limit.append(threadpool_limits(limits=1, user_api="blas"))
        _inside.append(me)
    try:
        yield
    finally:
        with _lock:
            _inside.remove(me)
            if not _inside:
                _limit.pop().restore_original_limits()


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
