"""What there is to do in a comparison, and about how long it will still take."""

import time
from collections.abc import Sequence

from clearformer.comparison.entrants import Entrant
from clearformer.comparison.events import Job
from clearformer.comparison.plan import GRID, SHARE

CERTAIN = 5.0
"""Seconds of training that must have been measured before anything is said."""


class Agenda:
    """Counts jobs, and measures how long those of each model take.

    Args:
        entrants: those that take part.
        seeds: full trials of each.
    """

    def __init__(self, entrants: Sequence[Entrant], seeds: int):
        trained = [entrant.name for entrant in entrants if not entrant.counts]
        # memory, the grid and one rate beyond it, then the full trials
        self.jobs = len(entrants) - len(trained) + len(trained) * (1 + len(GRID) + 1 + seeds)
        self.number = 0
        self._left = {name: len(GRID) * SHARE + seeds for name in trained}
        self._seconds: dict[str, float] = dict.fromkeys(trained, 0.0)
        self._done: dict[str, float] = dict.fromkeys(trained, 0.0)
        self._begun, self._share = 0.0, 0.0
        self._moves = False

    def begin(self, job: Job) -> int:
        """A job begins; returns its number, from 1."""
        self.number += 1
        self._from(0.0)
        self._moves = False
        return self.number

    def one_more(self, job: Job) -> None:
        """A job that took no time until now: the grid is too narrow."""
        self._left[job.model] += SHARE

    def none_more(self) -> None:
        """The grid was wide enough: the job beyond it is done without any work."""
        self.number += 1

    def end(self, job: Job, *, earlier: bool) -> None:
        """A job has ended, now or in an earlier session, which says nothing of this one's speed."""
        if not _weight(job):
            return
        self._left[job.model] -= _weight(job)
        if not earlier:
            self._add(job, 1.0, self._done, self._seconds)

    def seconds_left(self, job: Job, share: float) -> float | None:
        """About how long everything still takes, when a share of this job is done.

        Measured from the end of a job's first step, before which all is built and nothing is
        trained. What was not yet trained is taken to be as fast as the mean of what was.
        """
        if not self._moves:
            self._from(share)
            self._moves = True
        done, seconds = dict(self._done), dict(self._seconds)
        self._add(job, share, done, seconds)
        speeds = {name: seconds[name] / done[name] for name in done if done[name]}
        if sum(seconds.values()) < CERTAIN or not speeds:
            return None
        usual = sum(speeds.values()) / len(speeds)
        left = sum(units * speeds.get(name, usual) for name, units in self._left.items())
        return max(left - share * _weight(job) * speeds.get(job.model, usual), 0.0)

    def _from(self, share: float) -> None:
        """Measures this job from here."""
        self._begun, self._share = time.monotonic(), share

    def _add(
        self, job: Job, share: float, done: dict[str, float], seconds: dict[str, float]
    ) -> None:
        """What was measured of this job, up to a share of it."""
        if _weight(job):
            done[job.model] += (share - self._share) * _weight(job)
            seconds[job.model] += time.monotonic() - self._begun


def _weight(job: Job) -> float:
    """In full trials."""
    return {"search": SHARE, "trial": 1.0}.get(job.purpose, 0.0)
