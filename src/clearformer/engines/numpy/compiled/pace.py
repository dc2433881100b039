"""Whether a second thread helps, found out by trying: on a busy machine it never comes in time."""

TRIAL = 8
"""Pieces of work of a trial."""

KEEP = 160
"""Pieces of work that are done together after a trial that was for it."""

FIRST_BREAK, LONGEST_BREAK = 32, 4096
"""Pieces of work that are done alone after one that was not: twice as many each time."""

GAIN = 0.95
"""What is left of the time, at most, for a second thread to be worth its processor."""


class Pace:
    """Tries work alone, then together, then goes on with the quicker; and tries again, and again.

    A trial together ends as soon as it has taken longer than the one alone, and is seldom repeated
    where it was in vain, so that it never costs much.
    """

    def __init__(self) -> None:
        self.together = False
        """How the next piece of work is to be done."""
        self._alone = 0.0
        self._left, self._spent, self._trying = TRIAL, 0.0, True
        self._break = FIRST_BREAK

    def took(self, seconds: float) -> None:
        """Hears how long a piece of work has taken."""
        self._left -= 1
        self._spent += seconds
        if self._trying and self.together and self._spent > self._alone:
            self._go_alone()
        elif self._left == 0:
            self._go_on()

    def _go_on(self) -> None:
        if not self._trying:
            self._next(together=False, trying=True, works=TRIAL)
        elif not self.together:
            self._alone = self._spent
            self._next(together=True, trying=True, works=TRIAL)
        elif self._spent < GAIN * self._alone:
            self._break = FIRST_BREAK
            self._next(together=True, trying=False, works=KEEP)
        else:
            self._go_alone()

    def _go_alone(self) -> None:
        self._next(together=False, trying=False, works=self._break)
        self._break = min(2 * self._break, LONGEST_BREAK)

    def _next(self, together: bool, trying: bool, works: int) -> None:
        self.together, self._trying = together, trying
        self._left, self._spent = works, 0.0
