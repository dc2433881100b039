"""Ends a call that takes too long, from inside: the next line of Python that runs raises.

What never comes back to Python (a loop in C, a lock) only ends with its process.
"""

import ctypes
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

AGAIN = 0.05
"""Seconds after which it is raised again where the code caught it and went on."""

LOADING = 6.0
"""Seconds more for a call that is importing when its time is up, as PyTorch does within its
optimizers; an import that is broken off leaves modules that are half there."""


class TookTooLongError(BaseException):
    """Not an `Exception`, so that `except Exception` in an answer does not stop it."""


@contextmanager
def limit(seconds: float | None) -> Iterator[None]:
    """Raises TookTooLongError in the block after so many seconds; None: never."""
    if seconds is None:
        yield
    elif hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread():
        with _by_signal(seconds):
            yield
    else:
        with _by_thread(seconds):
            yield


def _is_importing(frame: FrameType | None) -> bool:
    while frame is not None:
        if frame.f_code.co_filename == "<frozen importlib._bootstrap>":
            return True
        frame = frame.f_back
    return False


@contextmanager
def _by_signal(seconds: float) -> Iterator[None]:
    """With the alarm of the operating system, which also ends a sleep."""
    began = time.monotonic()

    def ring(_: int, frame: FrameType | None) -> None:
        if time.monotonic() > began + seconds + LOADING or not _is_importing(frame):
            raise TookTooLongError

    before = signal.signal(signal.SIGALRM, ring)
    left, interval = signal.setitimer(signal.ITIMER_REAL, seconds, AGAIN)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        if left:
            passed = time.monotonic() - began
            signal.setitimer(signal.ITIMER_REAL, max(left - passed, 0.001), interval)


@contextmanager
def _by_thread(seconds: float) -> Iterator[None]:
    """From another thread, where there is no alarm or this is not the main thread."""
    here = threading.get_ident()
    over, lock = threading.Event(), threading.Lock()
    latest = time.monotonic() + seconds + LOADING

    def watch() -> None:
        wait = seconds
        while not over.wait(wait):
            with lock:
                loading = _is_importing(sys._current_frames().get(here))
                if not over.is_set() and (time.monotonic() > latest or not loading):
                    _throw(here, TookTooLongError)
            wait = AGAIN

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        with lock:
            over.set()


def _throw(thread: int, error: type[BaseException]) -> None:
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(error))
