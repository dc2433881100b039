"""Memory that a process and its copies share: see `engines.copied`."""

import mmap
import sys
from contextlib import suppress
from typing import Any

import numpy as np


def copies_work() -> bool:
    """Whether processes may be copied here: on other systems their libraries do not survive it."""
    return sys.platform == "linux"


def shared(array: np.ndarray) -> np.ndarray:
    """Another such array, in memory that this process and its copies share, if there can be any.

    Raises:
        MemoryError: there is not enough.
    """
    there = shared_zeros(array.shape, array.dtype)
    there[...] = array
    return there


def shared_zeros(shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    """The same for zeros; what is never touched takes no memory.

    Raises:
        MemoryError: there is not enough.
    """
    if not copies_work():
        return np.zeros(shape, dtype)
    size = np.dtype(dtype).itemsize
    for length in shape:
        size *= length
    try:
        room = mmap.mmap(-1, max(size, 1))
    except OSError as error:
        raise MemoryError(f"{size} bytes could not be had: {error}") from None
    with suppress(OSError, AttributeError):  # a system without large pages
        room.madvise(mmap.MADV_HUGEPAGE)
    return np.ndarray(shape, dtype, room)
