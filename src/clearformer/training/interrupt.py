"""Ctrl-C while training: finish the step, save, stop; a second one stops at once."""

import signal
import threading
import time
from types import FrameType
from typing import Any

from clearformer.engines.ranks import torchrun_passes_signals_on

SIGNALS = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
)

PASSED_ON = 1.0
"""Seconds in which a signal can come again from `torchrun`, after it came from the terminal."""


class Interrupt:
    """While inside, a signal of SIGNALS sets `number` instead of breaking into a step.

    What is ignored outside, as SIGHUP under `nohup`, stays ignored.
    """

    def __init__(self) -> None:
        self.number: int | None = None
        self._at = 0.0
        self._before: dict[int, Any] = {}

    def __enter__(self) -> "Interrupt":
        if threading.current_thread() is threading.main_thread():
            for number in SIGNALS:
                if signal.getsignal(number) in (signal.SIG_IGN, None):  # None: not of Python
                    continue
                self._before[number] = signal.signal(number, self._heard)
        return self

    def __exit__(self, *_: object) -> None:
        self._give_back()

    def _heard(self, number: int, frame: FrameType | None) -> None:
        """The first is kept; a second means what it meant before, and so ends at once.

        The handlers stay until then: if one were given back while another signal already waits to
        be handled, Python would tell of a race, and that signal would be lost.
        """
        if self.number is None:
            self.number, self._at = number, time.monotonic()
        elif not (torchrun_passes_signals_on() and time.monotonic() - self._at <= PASSED_ON):
            self._give_back()
            signal.raise_signal(number)

    def _give_back(self) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        self._before = {}
