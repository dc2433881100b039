"""Comparisons that take a moment, and what of them must be the same again."""

from typing import Any

from clearformer.comparison.compare import compare
from clearformer.comparison.document import Comparison
from clearformer.comparison.events import Job, Listener

TEXT = "the cat sat on the mat; the dog ran to the cat. a rat sat on a mat with the dog. " * 30

DECODER = "decoder:layers=1:heads=2"

BY_CLOCK = ("seconds", "tokens_per_second", "memory")


def small(text: Any = TEXT, **options: Any) -> Comparison:
    """Two models of 1,500 parameters, two seeds, 320 tokens; unless said otherwise."""
    usual: dict[str, Any] = {
        "models": ["ngram", DECODER],
        "budget": {"parameters": 1500, "tokens": 320},
        "seeds": 2,
        "batch": 4,
        "context": 8,
        "workers": 1,
        "why": False,
    }
    return compare(text, **{**usual, **options})


def small_task(task: str = "recall", **options: Any) -> Comparison:
    """The same on a task, by default recall over four steps."""
    usual = {"models": [DECODER], "task": task, "settings": {"distance": 4}}
    return small(None, **{**usual, "budget": {"parameters": 2000, "tokens": 320}, **options})


def timeless(comparison: Comparison) -> dict[str, Any]:
    """The document without what a clock or the memory of the moment decides."""
    document = comparison.to_json()
    for result in document["results"]:
        for name in BY_CLOCK:
            del result[name]
        for point in result["curve"]:
            del point["seconds"]
    for measures in document["summary"].values():
        for name in BY_CLOCK:
            measures.pop(name, None)
    return document


class Ears(Listener):
    """Keeps what it hears."""

    def __init__(self) -> None:
        self.begun_jobs: list[Job] = []
        self.ended_jobs: list[Job] = []
        self.left: list[float | None] = []

    def begun(self, job: Job, number: int, jobs: int) -> None:
        assert 1 <= number <= jobs
        self.begun_jobs.append(job)

    def moved(self, job: Job, share: float, seconds_left: float | None) -> None:
        assert 0 <= share <= 1
        self.left.append(seconds_left)

    def ended(self, job: Job, found: Any) -> None:
        self.ended_jobs.append(job)


class StoppedError(Exception):
    """The process is gone."""


class Ending(Ears):
    """Ends everything when so many jobs have begun."""

    def __init__(self, after: int) -> None:
        super().__init__()
        self.after = after

    def begun(self, job: Job, number: int, jobs: int) -> None:
        super().begun(job, number, jobs)
        if len(self.begun_jobs) > self.after:
            raise StoppedError
