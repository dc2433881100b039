"""How the minutes of a lesson are shared out over the comparisons in it."""

from collections.abc import Mapping, Sequence
from math import sqrt

from clearformer.comparison.why.numbers import kept

TRAINING = 0.6
"""Share of the minutes that training has; the rest judges and measures."""

WEIGHTS: Mapping[str, float] = {"text": 2.0, "reverse": 3.0}
"""How the time for training is shared out; recall at distance k has a share of 2 √(k / 64)."""

SEARCHING = 0.7
"""Trainings that the search for a learning rate takes, in full ones: three or four of a fifth."""


def shared_out(
    minutes: float, models: Mapping[str, int], distances: Sequence[int], seeds: int
) -> tuple[dict[str, float], dict[str, float]]:
    """Work, in shares of its own, and seconds of training for each model, by comparison.

    Args:
        minutes: for everything.
        models: how many take part in each comparison.
        distances: of the recalls.
        seeds: full trials of each model.
    """
    weights = {name: _weight(name, distances) for name in models}
    work = {name: weights[name] * count for name, count in models.items()}
    unit = TRAINING * minutes * 60 / (sum(work.values()) * (SEARCHING + seeds))
    return work, {name: kept(unit * weight) or unit for name, weight in weights.items()}


def recall(distance: int) -> str:
    """What a comparison by recall is called."""
    return f"recall {distance}"


def _weight(name: str, distances: Sequence[int]) -> float:
    """Of one comparison; longer rows need more time to learn as much."""
    by_distance = {recall(distance): 2 * sqrt(distance / 64) for distance in distances}
    return by_distance.get(name) or WEIGHTS[name]
