"""Asks the C library to keep freed memory for the next step instead of giving it back."""

import ctypes
import sys
from functools import cache

_TRIM_THRESHOLD, _MMAP_THRESHOLD, _ARENA_MAX = -1, -3, -8  # names of glibc's malloc.h
_AT_MOST = 1 << 30


@cache
def keep_freed_memory() -> bool:
    """Makes glibc reuse large arrays; returns whether it could.

    A training step frees and asks for the same few hundred arrays again and again. By default glibc
    returns each large one to the system, which then has to clear every page anew: measured, that
    took a third of the step. Elsewhere than on glibc nothing is changed.
    """
    if not sys.platform.startswith("linux"):
        return False
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError):  # musl has none
        return False
    mallopt(_ARENA_MAX, 1)
    return bool(mallopt(_MMAP_THRESHOLD, _AT_MOST) and mallopt(_TRIM_THRESHOLD, _AT_MOST))
