"""Whether a second thread helps, found out by trying: on a busy machine it never comes in time."""

TRIAL = 16
"""Pieces of work of a trial."""

KEEP = 160
"""Pieces of work that are done as the trials say, before the next ones."""

GAIN = 0.95
"""What is left of the time, at most, for a second thread to be worth its processor."""


class Pace:
    """Tries work alone, then together, then goes on with the quicker; and tries again, and again.

    A trial together ends as soon as it has taken longer than the one alone, so that it never costs
    much.
    """

    def __init__(self) -> None:
        self.together = False
        """How the next piece of work is to be done."""
        self._alone = 0.0
        self._left, self._spent, self._trying = TRIAL, 0.0, True

    def took(self, seconds: float) -> None:
        """Hears how long a piece of work has taken."""
        self._left -= 1
        self._spent += seconds
        if self._trying and self.together and self._spent > self._alone:
            self._next(together=False, trying=False)
        elif self._left == 0:
            self._go_on()

    def _go_on(self) -> None:
        if not self._trying:
            self._next(together=False, trying=True)
        elif self.together:
            self._next(together=self._spent < GAIN * self._alone, trying=False)
        else:
            self._alone = self._spent
            self._next(together=True, trying=True)

    def _next(self, together: bool, trying: bool) -> None:
        self.together, self._trying = together, trying
        self._left, self._spent = TRIAL if trying else KEEP, 0.0
