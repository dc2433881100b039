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
import time
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

TIME_TO_END, LOOK = 5.0, 0.001
"""Seconds that a copy has to end by itself, when it waits for work; and how often that is seen."""


def copies_work() -> bool:
    """Whether processes may be copied here: on other systems their libraries do not survive it."""
    return sys.platform == "linux"


def shared(array: np.ndarray) -> np.ndarray:
    """Another such array, in memory that this process and its copies share, if there can be any."""
    if not copies_work():
        return array.copy()
    room = mmap.mmap(-1, max(array.nbytes, 1))
    with suppress(OSError, AttributeError):  # a system without large pages
        room.madvise(mmap.MADV_HUGEPAGE)
    there = np.ndarray(array.shape, array.dtype, room)
    there[...] = array
    return there


class Copied:
    """`with Copied(work) as there:` has a copy call work(*arguments), again and again.

    `answer = there.begin(*arguments)` asks it to; answer() waits, and returns what `work` did. What
    it has written into shared memory is there then. The copy ends when this process does, however
    it ends.
    """

    def __init__(self, work: Callable[..., Any]) -> None:
        """Nothing is copied yet."""
        self._work = work
        self._process = 0
        self._connection: Connection[Any, Any] | None = None

    def __enter__(self) -> "Copied":
        """Copies; where the system refuses, nobody will answer."""
        mine, its = multiprocessing.Pipe()
        with its, _signals_wait(), warnings.catch_warnings():
            # of threads that hold locks: a copy does sums, and touches none that is not its own
            warnings.simplefilter("ignore", DeprecationWarning)
            try:
                self._process = os.fork()
            except OSError:
                mine.close()
                return self
            if not self._process:
                _serve(its, self._work)
        self._connection = mine
        return self

    def __exit__(self, mistake: object, *_: object) -> None:
        """Ends it; at once after a mistake, when it may be at work."""
        self._give_up()
        if self._process:
            with suppress(ChildProcessError):  # somebody else has waited for it
                _end(self._process, 0 if mistake else TIME_TO_END)
            self._process = 0

    @property
    def is_there(self) -> bool:
        """Whether somebody will answer, as far as is known."""
        return self._connection is not None

    def begin(self, *arguments: Any) -> Callable[[], Any]:
        """Asks, and waits for nothing.

        Returns:
            A function, to be called before the next `begin`: it waits, and returns what `work` did;
            None where it failed or nobody is there. Do it here, then.
        """
        if self._connection:
            try:
                self._connection.send(arguments)
            except OSError:
                self._give_up()
        return self._answer

    def _answer(self) -> Any:
        try:
            return self._connection.recv() if self._connection else None
        except (OSError, EOFError):
            self._give_up()
            return None

    def _give_up(self) -> None:
        """Nobody is there any more, or is to be."""
        if self._connection:
            self._connection.close()
        self._connection = None


def _serve(connection: "Connection[Any, Any]", work: Callable[..., Any]) -> None:
    """What a copy does, until nobody is at the other end any more."""
    try:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        _let_go(connection.fileno())
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


def _let_go(but: int) -> None:
    """Closes what the parent has open, so that a lock of its is free when it has let go of it."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in range(3):
        os.dup2(nothing, number)
    for number in [int(path.name) for path in OPEN_FILES.iterdir()]:
        if number > 2 and number != but:
            with suppress(OSError):
                os.close(number)


def _end(process: int, seconds: float) -> None:
    """Waits until a child has ended; from then on does not wait for it to do so by itself."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if os.waitpid(process, os.WNOHANG)[0]:
            return
        time.sleep(LOOK)
    os.kill(process, signal.SIGKILL)
    os.waitpid(process, 0)


@contextmanager
def _signals_wait() -> Iterator[None]:
    """Inside; and for good in what is copied inside."""
    numbers = [getattr(signal, name) for name in SIGNALS]
    before = signal.pthread_sigmask(signal.SIG_BLOCK, numbers)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
