"""Whether a second thread helps, found out by trying: on a busy machine it never comes in time."""

from statistics import median

ALONE, TOGETHER = 3, 7
"""Pieces of work in the two halves of a trial. The thread comes late for up to three."""

KEEP = 160
"""Pieces of work that are done together after a trial that was for it."""

FIRST_BREAK, LONGEST_BREAK = 32, 4096
"""Pieces of work that are done alone after one that was not: twice as many each time."""

GAIN = 0.99
"""What is left of the time, at most, for a second thread to be worth its processor. A large model
gains a tenth, which is what medians of so few pieces differ by: to ask for more lost it often."""

PATIENCE = 1.5
"""How much longer than alone `TOGETHER` pieces of work may take before going alone at once."""


class Pace:
    """Tries work alone, then together, then goes on with the quicker; and tries again, and again.

    Medians are compared, for a single piece may be held up by anything. Working together ends early
    where it is far slower, and is seldom tried again where it was in vain: it never costs much.
    """

    def __init__(self) -> None:
        self.together = False
        """How the next piece of work is to be done."""
        self._alone = 0.0
        self._left, self._trying = ALONE, True
        self._taken: list[float] = []
        self._break = FIRST_BREAK

    @property
    def steady(self) -> int:
        """Pieces of work that are done the same way, whatever they take; 1 while trying."""
        return 1 if self._trying else self._left

    def took(self, seconds: float, pieces: int = 1) -> None:
        """Hears how long so many pieces of work have taken, at most `steady`."""
        self._left -= pieces
        if self._trying or self.together:
            self._taken += [seconds / pieces] * pieces
        if self.together and sum(self._taken) > PATIENCE * TOGETHER * self._alone:
            self._go_alone()
        elif self._left == 0:
            self._go_on()
        elif len(self._taken) >= TOGETHER:
            self._taken = []

    def _go_on(self) -> None:
        if not self._trying:
            self._next(together=False, trying=True, works=ALONE)
        elif not self.together:
            self._alone = median(self._taken)
            self._next(together=True, trying=True, works=TOGETHER)
        elif median(self._taken) < GAIN * self._alone:
            self._break = FIRST_BREAK
            self._next(together=True, trying=False, works=KEEP)
        else:
            self._go_alone()

    def _go_alone(self) -> None:
        self._next(together=False, trying=False, works=self._break)
        self._break = min(2 * self._break, LONGEST_BREAK)

    def _next(self, together: bool, trying: bool, works: int) -> None:
        self.together, self._trying = together, trying
        self._left, self._taken = works, []
