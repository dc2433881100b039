"""Ctrl-C while training: finish the step, save, stop; a second one stops at once."""

import signal
import threading
from types import FrameType
from typing import Any

SIGNALS = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
)


class Interrupt:
    """While inside, a signal of SIGNALS sets `number` instead of breaking into a step.

    What is ignored outside, as SIGHUP under `nohup`, stays ignored.
    """

    def __init__(self) -> None:
        self.number: int | None = None
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
        self.number = number
        self._give_back()

    def _give_back(self) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        self._before = {}
