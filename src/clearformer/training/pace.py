"""How quick the steps of the last seconds were."""

from math import exp

RECENT_SECONDS = 10.0
"""A step that lies so far back counts e times less than the newest."""


class Pace:
    """The mean time of a step over the recent past of this session.

    With t the time of a step, the older ones fade by it:

        weight = exp(-t / 10 s) · weight + 1
        sum    = exp(-t / 10 s) · sum + t
        pace   = sum / weight

    The first step of a session counts only until there is a second: PyTorch compiles in it, or
    loads what a device computes with.
    """

    def __init__(self) -> None:
        self._steps = 0
        self._weight = self._sum = 0.0

    def add(self, seconds: float) -> None:
        """One more step has taken so long."""
        self._steps += 1
        fading = exp(-seconds / RECENT_SECONDS) if self._steps > 2 else 0.0
        self._weight = fading * self._weight + 1
        self._sum = fading * self._sum + seconds

    @property
    def seconds(self) -> float:
        """Of a step; 0 before the first."""
        return self._sum / self._weight if self._weight else 0.0
