"""What a comparison tells while it runs; a listener hears it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

Purpose = Literal["count", "memory", "search", "trial"]


@dataclass(frozen=True)
class Job:
    """One piece of the work."""

    name: str
    """Of its file; tells entrant, purpose and luck."""
    model: str
    """Of the entrant."""
    purpose: Purpose
    seed: int = 0
    learning_rate: float | None = None

    @property
    def in_words(self) -> str:
        """What is done, for a person."""
        if self.purpose == "search":
            return f"learning rate {self.learning_rate:g}"
        if self.purpose == "trial":
            return f"seed {self.seed}"
        return {"count": "counting", "memory": "memory"}[self.purpose]


class Listener:
    """Hears of a comparison. This one keeps silent; the command line shows it."""

    def planned(self, models: Mapping[str, str], jobs: int) -> None:
        """What is compared, {name: in words}, and in how many jobs."""

    def note(self, text: str) -> None:
        """Something a person should know, in one sentence."""

    def begun(self, job: Job, number: int, jobs: int) -> None:
        """A job begins, the so-manieth of so many."""

    def moved(self, job: Job, share: float, seconds_left: float | None) -> None:
        """A share of the job is done, 0 … 1; about so many seconds are left of everything."""

    def ended(self, job: Job, found: Mapping[str, Any]) -> None:
        """A job has ended, now or in an earlier session."""

    def looking(self, at: str, share: float) -> None:
        """All trials have ended; what is measured on the trained models, and the share done."""

    def over(self) -> None:
        """The comparison has ended, or was stopped."""
