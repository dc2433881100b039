"""The tasks by name; each is imported when it is asked for."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from difflib import get_close_matches
from importlib import import_module
from typing import Any

from clearformer.errors import ConfigurationError
from clearformer.tasks.task import Task

HERE = "clearformer.tasks"


@dataclass(frozen=True)
class Entry:
    """Where a task is, and what it is."""

    module: str
    """The module that has it."""
    kind: str
    """The class in it: a dataclass whose fields are the settings."""
    says: str
    """In a sentence: what it asks, and what the best answer is."""


TASKS: Mapping[str, Entry] = {
    "recall": Entry(
        f"{HERE}.recall",
        "Recall",
        "Which symbol stood exactly k steps ago; all can be right, and one who forgets is right "
        "once in as many as there are values.",
    ),
    "copy": Entry(
        f"{HERE}.copy",
        "Copy",
        "Write the letters again; all can be right.",
    ),
    "reverse": Entry(
        f"{HERE}.reverse",
        "Reverse",
        "Write the letters from the last to the first; all can be right.",
    ),
    "sort": Entry(
        f"{HERE}.sort",
        "Sort",
        "Write the letters in the order of the alphabet; all can be right.",
    ),
    "addition": Entry(
        f"{HERE}.addition",
        "Addition",
        "Write the sum of two whole numbers in decimal digits; all can be right.",
    ),
    "dates": Entry(
        f"{HERE}.dates",
        "Dates",
        "Write the day that is meant in ISO form, from many spellings in English and Japanese; "
        "all can be right, also on days never seen.",
    ),
    "markov": Entry(
        f"{HERE}.markov",
        "MarkovText",
        "Predict the next symbol of a random source; no loss is below its entropy, which is "
        "computed exactly.",
    ),
}


def tasks() -> list[str]:
    """The names of all tasks, in the order in which they are best met."""
    return list(TASKS)


def task(name: str, **settings: Any) -> Task:
    """The task of that name; what is not set is as its class says.

    Raises:
        ConfigurationError: no such task or setting, or a setting that cannot be.
    """
    if name not in TASKS:
        near = get_close_matches(name, TASKS, 2)
        hint = f"did you mean {' or '.join(near)}? " if near else ""
        raise ConfigurationError(
            f"there is no task {name!r}; {hint}there are {', '.join(sorted(TASKS))}"
        )
    entry = TASKS[name]
    kind: Any = getattr(import_module(entry.module), entry.kind)
    known = [field.name for field in fields(kind) if field.init]
    for setting in settings:
        if setting not in known:
            near = get_close_matches(setting, known, 1)
            hint = f"; did you mean {near[0]}?" if near else ""
            raise ConfigurationError(
                f"the task {name} has no setting {setting!r}{hint}; "
                f"what may be set: {', '.join(known)}"
            )
    made: Task = kind(**settings)
    return made
