"""The table: four ways to read a sequence, and what was measured of each."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

ROWS = ("rnn", "gated", "seq2seq", "transformer")
"""One hidden state; gates; attention to a source; attention to everything."""

COLUMNS = ("predicts", "remembers", "reaches", "costs", "speed")
"""What is measured."""

MEASURES = (
    "bits_per_character", "bits_per_symbol", "recall", "reversed", "gradient", "exponent",
    "tokens_per_second",
)  # fmt: skip
"""Kinds of figures; how each is measured stands with the report's words."""


@dataclass(frozen=True)
class Figure:
    """One measured figure."""

    model: str
    """What was measured, for a person, such as LSTM; or `attention` or `no_attention`."""
    measure: str
    """One of MEASURES."""
    value: float | None
    """None where it could not be measured."""
    low: float | None = None
    """low … high holds the true value with 95 % confidence; None where nothing tells of it."""
    high: float | None = None
    at: int | None = None
    """Of a recall the distance, of a gradient how many steps back."""


@dataclass(frozen=True)
class Lesson:
    """What was measured, by row and column."""

    cells: Mapping[str, Mapping[str, tuple[Figure, ...]]]
    """{row: {column: figures}}; no figure where a kind of model is not there."""
    minutes: float
    """What everything took."""
    seconds: Mapping[str, float]
    """Of training for each model and seed, by task."""
    parameters: int
    """Of each model."""
    seeds: int
    """Full trials of each."""
    distances: tuple[int, ...]
    """Of the recalls."""
    chance: float | None
    """Share of right answers in recall of one who has forgotten."""
    text: str
    """What text was read."""

    def to_json(self) -> dict[str, Any]:
        """A dictionary for JSON, as `Comparison.lesson` and `--json` have it."""
        cells = {
            row: {column: [asdict(each) for each in figures] for column, figures in line.items()}
            for row, line in self.cells.items()
        }
        plain = {"seconds": dict(self.seconds), "distances": list(self.distances)}
        return {**asdict(self), **plain, "cells": cells}

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> "Lesson":
        """The lesson in such a dictionary."""
        cells = {
            row: {
                column: tuple(Figure(**each) for each in figures)
                for column, figures in line.items()
            }
            for row, line in document["cells"].items()
        }
        return cls(**{**document, "cells": cells, "distances": tuple(document["distances"])})
