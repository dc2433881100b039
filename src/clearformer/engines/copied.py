"""A copy of this process that does one kind of work, and memory that both of them see.

Threads that make many small calls wait for the interpreter's lock; processes have one each. A copy
(`fork`) has everything that this process had when it was made, so nothing is sent to it but what
changes from call to call, and what is shared needs not be sent at all. Only where Linux is.
"""

import mmap
import multiprocessing
import os
import signal
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np

SIGNALS = ("SIGINT", "SIGHUP")
"""Of the terminal, which sends them to all processes; the copies leave them to their parent."""

OPEN_FILES = Path("/proc/self/fd")
"""Numbers of what this process has open."""

TIME_TO_END = 5.0
"""Seconds that a copy has to end by itself; it waits for work then."""


def copies_work() -> bool:
    """Whether this process may be copied: not by systems that threads or libraries forbid it on."""
    return sys.platform == "linux" and not multiprocessing.current_process().daemon


def shared(array: np.ndarray) -> np.ndarray:
    """A copy of the array, in memory that this process and its copies share."""
    room = mmap.mmap(-1, max(array.nbytes, 1))
    with suppress(OSError):  # a system without large pages
        room.madvise(mmap.MADV_HUGEPAGE)
    there = np.ndarray(array.shape, array.dtype, room)
    there[...] = array
    return there


class Copied:
    """`with Copied(work) as there:` has there(*arguments) call work(*arguments) in a copy.

    What it writes into shared memory is there when it has answered. It ends when this process does,
    however it ends.
    """

    def __init__(self, work: Callable[..., Any]) -> None:
        """Nothing is copied yet."""
        self._work = work
        self._process: Any = None
        self._connection: Connection[Any, Any] | None = None

    def __enter__(self) -> "Copied":
        """Copies; where the system refuses, nobody will answer."""
        mine, its = multiprocessing.Pipe()
        process = multiprocessing.get_context("fork").Process(
            target=_serve, args=(its, self._work), daemon=True
        )
        with its, _signals_wait(), warnings.catch_warnings():
            # of threads that hold locks: a copy does sums, and touches none that is not its own
            warnings.simplefilter("ignore", DeprecationWarning)
            try:
                process.start()
            except OSError:
                mine.close()
                return self
        self._process, self._connection = process, mine
        return self

    def __exit__(self, *_: object) -> None:
        if self._connection:
            self._connection.close()
            self._connection = None
        if self._process:
            self._process.join(TIME_TO_END)
            self._process.kill()
            self._process.join()
            self._process.close()
            self._process = None

    def __call__(self, *arguments: Any) -> Any:
        """What `work` returned; None where it failed or nobody is there: do it here, then."""
        if self._connection is None:
            return None
        try:
            self._connection.send(arguments)
            return self._connection.recv()
        except (OSError, EOFError):  # it was killed
            self._connection.close()
            self._connection = None
            return None


def _serve(connection: "Connection[Any, Any]", work: Callable[..., Any]) -> None:
    """What a copy does, until nobody is at the other end any more."""
    try:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        _close_all_but(connection.fileno())
        while True:
            arguments = connection.recv()
            try:
                answer = work(*arguments)
            except Exception:  # the parent will meet the same, and tell of it
                answer = None
            connection.send(answer)
    except (OSError, EOFError):
        pass
    finally:
        os._exit(0)  # nothing that the parent has begun is ended here


def _close_all_but(number: int) -> None:
    """So that what the parent lets go, as a lock, is free however long a copy lives."""
    for name in os.listdir(OPEN_FILES):
        if int(name) > 2 and int(name) != number:
            with suppress(OSError):
                os.close(int(name))


@contextmanager
def _signals_wait() -> Iterator[None]:
    """Inside; and for good in what is copied inside."""
    numbers = [getattr(signal, name) for name in SIGNALS]
    before = signal.pthread_sigmask(signal.SIG_BLOCK, numbers)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
