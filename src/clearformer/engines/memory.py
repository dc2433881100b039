"""What is asked for memory in training: of the C library, of the system, and of Python."""

import ctypes
import gc
import mmap
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

_TRIM_THRESHOLD, _MMAP_THRESHOLD, _ARENA_MAX = -1, -3, -8  # names of glibc's malloc.h
_LARGEST_ARRAY = 1 << 30
_ALL = (1 << 31) - 1

ROOM = 1 << 29
"""Bytes for which large pages are asked. Only what is used takes memory."""

OBJECTS = 20_000
"""New ones after which Python looks for garbage in training: more than a step on a tape makes."""


@contextmanager
def collecting_seldom() -> Iterator[None]:
    """Inside, Python looks for objects that hold each other after `OBJECTS` new ones, not 700.

    A tape makes 700 in a small step, and nothing of it is garbage until it is used up, when it goes
    by itself. Looking through it stops all threads: 1 % of the step.
    """
    newest, *older = gc.get_threshold()
    gc.set_threshold(max(newest, OBJECTS) if newest else 0, *older)
    try:
        yield
    finally:
        gc.set_threshold(newest, *older)


@cache
def keep_freed_memory() -> bool:
    """Makes glibc reuse large arrays, in large pages; returns whether it could.

    A training step frees and asks for the same few hundred arrays again and again. By default glibc
    returns each large one to the system, which then has to clear every page anew: measured, that
    took a third of the step. Elsewhere than on glibc nothing is changed.
    """
    if not sys.platform.startswith("linux"):
        return False
    libc = ctypes.CDLL(None)
    try:
        mallopt = libc.mallopt
    except AttributeError:  # musl has none
        return False
    mallopt(_ARENA_MAX, 1)
    kept = mallopt(_MMAP_THRESHOLD, _LARGEST_ARRAY) and mallopt(_TRIM_THRESHOLD, _ALL)
    _ask_for_large_pages(libc)
    return bool(kept)


def _ask_for_large_pages(libc: ctypes.CDLL) -> None:
    """Advises Linux to use pages of 2 MiB, where arrays will come to lie.

    A processor knows the places of a few thousand pages by heart, which is less than a step touches
    when a page has 4 KiB. Where the system gives large pages to nobody, or to everybody, this
    changes nothing. Room that is asked for and given back at once is where glibc goes on.
    """
    malloc, free, madvise = libc.malloc, libc.free, libc.madvise
    malloc.argtypes, malloc.restype = (ctypes.c_size_t,), ctypes.c_void_p
    free.argtypes, free.restype = (ctypes.c_void_p,), None
    madvise.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    room = malloc(ROOM)
    if room is None:  # a limit on memory
        return
    begin = -(-room // mmap.PAGESIZE) * mmap.PAGESIZE
    madvise(begin, ROOM - mmap.PAGESIZE, mmap.MADV_HUGEPAGE)
    free(room)
