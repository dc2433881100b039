"""How many threads NumPy's matrix products use."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

LARGE = 20_000_000
"""Parameters from which one row times the weights is worth sharing out over threads."""


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Inside, each product runs on the thread that asks for it."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(limits=1, user_api="blas"):
        yield


def threads_for_generation(parameters: int) -> AbstractContextManager[None]:
    """One BLAS thread for a small model: its products are too short to be shared out.

    Waking a second thread for each costs more than it saves, many times more on a busy machine.
    """
    return nullcontext() if parameters >= LARGE else one_blas_thread()
