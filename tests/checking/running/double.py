"""The smallest exercise, in a file as a teacher writes it."""

from clearformer.checking.exercise import Exercise
from clearformer.checking.probe import Probe, normal
from clearformer.checking.words import Words


def right(step, x):
    return 2 * x


EXERCISE = Exercise(
    "double",
    Words("", ""),
    Words("", ""),
    right,
    {},
    lambda: [Probe(f"{rows} rows", {"x": normal(rows, rows, 3)}) for rows in (4, 5, 6)],
    [],
    batched=("x",),
)
