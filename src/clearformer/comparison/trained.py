"""A model that a comparison has trained, as the measurements of why want it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from clearformer.comparison.course import Course
from clearformer.comparison.entries import Entry
from clearformer.comparison.study import Study
from clearformer.models.kind import Configuration
from clearformer.models.kinds import build
from clearformer.text.tokenizer import Tokenizer


@dataclass(frozen=True)
class Trained:
    """The model of an entrant's first seed."""

    name: str
    """Of the entrant, as in the document."""
    configuration: Configuration
    model: Any
    """In NumPy arrays."""
    vocabulary: tuple[str, ...]
    """What a person is shown for each id."""
    tokenizer: Tokenizer | None
    """None in a task."""
    held_out: np.ndarray
    """Ids that it has not learned from: of a text (seq), of a task of rows the inputs (rows, seq).
    """
    lengths: np.ndarray | None = None
    """Of a task of rows, the ids of each up to the last position that is asked; None of a text."""


def trained_of(entries: Sequence[Entry], course: Course, kept: Study) -> list[Trained]:
    """The models of the first seed, as they were kept; those that count are not among them."""
    found = []
    for entry in entries:
        made, entrant = entry.configuration, entry.entrant
        weights = kept.weights(entry.job("trial", 0).name)
        if made is None or weights is None:
            continue
        found.append(
            Trained(
                name=entry.name,
                configuration=made,
                model=build(made, None).with_parameters(_from(weights)),
                vocabulary=course.vocabulary(entrant),
                tokenizer=course.tokenizer_of(entrant),
                held_out=course.held_out(entrant),
                lengths=course.lengths(entrant),
            )
        )
    return found


def _from(weights: Mapping[str, np.ndarray]) -> Callable[[str, Any], np.ndarray]:
    return lambda name, _: weights[name]
