"""How far the whole lesson is, heard from the comparisons in it."""

from collections.abc import Callable

from clearformer.comparison.events import Job, Listener

Progress = Callable[[str, float], None]
"""Hears what is measured, and the share of everything that is done, 0 … 1."""


class Hearing(Listener):
    """Turns the jobs of one comparison into the share of the lesson that is done.

    Args:
        name: of the comparison.
        before: work of the comparisons before it.
        own: work of this one.
        all_: work of all.
        progress: hears; None if nobody does.
    """

    def __init__(
        self, name: str, before: float, own: float, all_: float, progress: Progress | None
    ):
        self.name, self.before, self.own, self.all = name, before, own, all_
        self.progress = progress
        self.number, self.jobs = 1, 1

    def begun(self, job: Job, number: int, jobs: int) -> None:
        """A job begins."""
        self.number, self.jobs = number, jobs
        self.moved(job, 0.0, None)

    def moved(self, job: Job, share: float, seconds_left: float | None) -> None:
        """A share of it is done."""
        within = min((self.number - 1 + share) / self.jobs, 1.0)
        self._tell(f"{job.model}, {job.in_words}", within)

    def looking(self, at: str, share: float) -> None:
        """All is trained, and something is measured on it."""
        if at:
            self._tell(at, 1.0)

    def _tell(self, doing: str, within: float) -> None:
        if self.progress:
            done = (self.before + within * self.own) / self.all
            self.progress(f"{self.name}: {doing}", done)
