"""Recall by distance: who still knows what stood k steps ago, for several k."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from clearformer.comparison.document import Comparison
from clearformer.errors import ConfigurationError


@dataclass(frozen=True)
class RecallPoint:
    """Answers of one entrant at one distance."""

    distance: int
    """Steps from what is to be recalled to the question: k."""
    accuracy: float
    """Mean share of right answers over seeds."""
    low: float | None
    """low … high holds the true mean with 95 % confidence; None for one seed."""
    high: float | None
    seeds: int


@dataclass(frozen=True)
class Recalling:
    """Accuracy against distance of one entrant."""

    name: str
    points: tuple[RecallPoint, ...]
    """From the shortest distance to the longest."""
    chance: float
    """Share of right answers of one who forgets."""

    def at(self, distance: int) -> RecallPoint | None:
        """The point at a distance, if it was measured."""
        return next((point for point in self.points if point.distance == distance), None)

    def to_json(self) -> dict[str, Any]:
        """A dictionary for JSON."""
        return {**asdict(self), "points": [asdict(point) for point in self.points]}

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> "Recalling":
        """The same from such a dictionary."""
        points = tuple(RecallPoint(**point) for point in document["points"])
        return cls(**{**document, "points": points})


def recalling_of(comparisons: Mapping[int, Comparison]) -> tuple[Recalling, ...]:
    """The curves of all entrants, from comparisons by recall at several distances.

    Args:
        comparisons: by distance; the same models in each.

    Raises:
        ConfigurationError: one is not by recall, or has other models than the others.
    """
    if not comparisons:
        return ()
    ordered = sorted(comparisons.items())
    first = ordered[0][1]
    for distance, comparison in ordered:
        if comparison.task["name"] != "recall" or comparison.names != first.names:
            raise ConfigurationError(
                f"recall by distance needs comparisons by recall with the same models; at distance "
                f"{distance} it is {comparison.task['name']} with {', '.join(comparison.names)}"
            )
    return tuple(
        Recalling(
            name,
            tuple(
                _point(distance, comparison.summary[name]["accuracy"])
                for distance, comparison in ordered
            ),
            float(first.task["chance"]),
        )
        for name in first.names
    )


def _point(distance: int, accuracy: Mapping[str, Any]) -> RecallPoint:
    return RecallPoint(
        distance, accuracy["mean"], accuracy["low"], accuracy["high"], accuracy["seeds"]
    )
