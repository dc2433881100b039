"""A straight line through points of two logarithms: the exponent of a power law."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, log, sqrt

from clearformer.comparison.statistics import student_t
from clearformer.errors import ConfigurationError


@dataclass(frozen=True)
class Power:
    """y = factor · x^exponent."""

    factor: float
    exponent: float
    low: float | None
    """low … high holds the exponent with 95 % confidence; None for two points, which leave nothing
    to judge a line by."""
    high: float | None


def power_through(x: Sequence[float], y: Sequence[float]) -> Power:
    """The power law of least squares of log y on log x.

    With n points, residuals r and spread S = sum (log x - mean)², the exponent lies in
    ± t(n - 2) · √(sum r² / (n - 2) / S).

    Raises:
        ConfigurationError: fewer than two points, or a number that is not above 0.
    """
    if len(x) != len(y) or len(set(x)) < 2 or min(*x, *y) <= 0:
        raise ConfigurationError(
            f"a power law needs at least two different points above 0; got {len(x)} and {len(y)}"
        )
    across, up = [log(value) for value in x], [log(value) for value in y]
    count = len(across)
    middle, height = sum(across) / count, sum(up) / count
    spread = sum((value - middle) ** 2 for value in across)
    both = sum((a - middle) * (b - height) for a, b in zip(across, up, strict=True))
    exponent = both / spread
    level = height - exponent * middle
    factor = exp(level)
    if count == 2:
        return Power(factor, exponent, None, None)
    left = sum((b - level - exponent * a) ** 2 for a, b in zip(across, up, strict=True))
    half = student_t(count - 2) * sqrt(left / (count - 2) / spread)
    return Power(factor, exponent, exponent - half, exponent + half)
