"""Signals of the terminal, which reach all of its processes at once."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager

TERMINAL = tuple(name for name in ("SIGINT", "SIGHUP") if hasattr(signal, name))
"""Their names: Ctrl-C, and the end of the terminal."""


@contextmanager
def signals_wait() -> Iterator[None]:
    """Inside they wait; in a process that is started inside, until it says otherwise."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    numbers = [getattr(signal, name) for name in TERMINAL]
    before = signal.pthread_sigmask(signal.SIG_BLOCK, numbers)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
