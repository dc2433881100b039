"""Means over seeds, and intervals that say how far they can be trusted."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from math import atan, cos, pi, sin, sqrt
from typing import Any

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Mean:
    """The mean of a measure over seeds; low … high holds the true one with 95 % confidence."""

    mean: float
    low: float | None
    """None where one seed tells of no spread."""
    high: float | None
    seeds: int

    def to_json(self) -> dict[str, Any]:
        """As the document has it."""
        return asdict(self)


def mean_of(values: Sequence[float], *, exact: bool = False) -> Mean:
    """mean ± t · s / √n, with s the standard deviation (n - 1) and t of Student's distribution.

    Args:
        values: one for each seed, at least one.
        exact: nothing in it is drawn: the value is the mean, with no interval around it.

    (Student, "The probable error of a mean", Biometrika, 1908.)
    """
    count = len(values)
    mean = sum(values) / count
    if exact:
        return Mean(mean, mean, mean, count)
    if count == 1:
        return Mean(mean, None, None, 1)
    deviation = sqrt(sum((value - mean) ** 2 for value in values) / (count - 1))
    half = student_t(count - 1) * deviation / sqrt(count)
    return Mean(mean, mean - half, mean + half, count)


def apart(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether two intervals, as the document has them, do not overlap."""
    if None in (one["low"], one["high"], other["low"], other["high"]):
        return False
    return bool(one["high"] < other["low"] or other["high"] < one["low"])


@cache
def student_t(degrees: int, confidence: float = CONFIDENCE) -> float:
    """t such that a variable of Student's distribution lies in -t … t with this probability."""
    low, high = 0.0, 1.0
    while share_within(high, degrees) < confidence:
        low, high = high, 2 * high
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if share_within(middle, degrees) < confidence else (low, middle)
    return (low + high) / 2


def share_within(t: float, degrees: int) -> float:
    """How likely Student's distribution is to lie in -t … t.

    With θ = atan(t / √ν), for ν odd 2/π · (θ + sin θ · (cos θ + 2/3 cos³ θ + …)), ending with the
    power ν - 2; for ν even sin θ · (1 + 1/2 cos² θ + 1·3/(2·4) cos⁴ θ + …), likewise. (Abramowitz
    and Stegun, 1964, 26.7.3 and 26.7.4.)
    """
    angle = atan(t / sqrt(degrees))
    odd = degrees % 2
    term, total = (cos(angle) if odd else 1.0), 0.0
    for power in range(odd, degrees - 1, 2):
        total += term
        term *= (power + 1) / (power + 2) * cos(angle) ** 2
    if odd:
        return 2 / pi * (angle + sin(angle) * total)
    return sin(angle) * total
