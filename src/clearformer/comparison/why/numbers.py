"""Measured numbers as they are kept in a document."""

from collections.abc import Iterable
from math import isfinite
from typing import Any

DIGITS = 6
"""Significant digits: more than any of these measurements is sure of."""


def kept(value: Any) -> float | None:
    """The number with six significant digits; None where there is none."""
    number = float(value)
    return float(f"{number:.{DIGITS}g}") if isfinite(number) else None


def kept_all(values: Iterable[Any]) -> tuple[float | None, ...]:
    """The same of several."""
    return tuple(map(kept, values))
