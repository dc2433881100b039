"""A thread that comes when it is called, and ends with whoever has made it."""

import weakref
from collections.abc import Callable
from threading import Event, Thread
from typing import Any

from clearformer.engines.threads import processors


class SecondThread:
    """Does `work(*given)` after each `call`, beside the caller; on one processor it never comes.

    Calls while it is at work become one. What it works with must not hold its owner.
    """

    def __init__(self, work: Callable[..., Any], *given: Any):
        self._called, self._is_over = Event(), Event()
        loop = (work, given, self._called, self._is_over)
        self._thread = Thread(target=_serve, args=loop, daemon=True) if processors() > 1 else None
        weakref.finalize(self, _end, self._called, self._is_over)

    def call(self) -> None:
        """Asks for the work once."""
        if self._thread is None:
            return
        if not self._thread.ident:
            self._thread.start()
        self._called.set()


def _serve(work: Callable[..., Any], given: Any, called: Event, is_over: Event) -> None:
    while called.wait() and not is_over.is_set():
        called.clear()
        work(*given)


def _end(called: Event, is_over: Event) -> None:
    is_over.set()
    called.set()
