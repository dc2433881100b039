"""How much memory some work takes, at its height."""

import tracemalloc
from collections.abc import Callable
from typing import Any


def height_of(work: Callable[[], Any]) -> int:
    """Bytes that Python and NumPy had allocated at the height of this work, beside those before it.

    By tracemalloc, which NumPy tells of its arrays; it makes everything slower.
    """
    was_tracing = tracemalloc.is_tracing()
    if not was_tracing:
        tracemalloc.start()
    try:
        tracemalloc.reset_peak()
        before = tracemalloc.get_traced_memory()[0]
        kept = work()  # kept until the height is read
        height = tracemalloc.get_traced_memory()[1] - before
        del kept
        return max(height, 0)
    finally:
        if not was_tracing:
            tracemalloc.stop()
