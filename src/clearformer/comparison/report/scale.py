"""Scales: where a number stands on an axis, and which numbers are written at it."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, log10

STEPS = (1, 2, 2.5, 5, 10)
"""What round distances begin with."""

SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass(frozen=True)
class Scale:
    """Numbers from low to high, drawn from `start` to `end` in units of the picture."""

    low: float
    high: float
    start: float
    end: float
    powers: bool = False
    """Whether equal distances are equal factors."""

    def __call__(self, value: float) -> float:
        """Where a number stands."""
        low, high, place = self.low, self.high, value
        if self.powers:
            low, high, place = log10(low), log10(high), log10(value)
        return self.start + (place - low) / (high - low) * (self.end - self.start)

    def ticks(self, about: int) -> list[float]:
        """About so many round numbers within it."""
        if self.powers:
            return _powers_of_ten(self.low, self.high, about)
        step = _round_step((self.high - self.low) / max(about, 1))
        first, last = ceil(self.low / step - 1e-9), floor(self.high / step + 1e-9)
        return [float(f"{number * step:.12g}") for number in range(first, last + 1)]


def widened(values: Sequence[float], share: float = 0.06) -> tuple[float, float]:
    """The ends of a scale on which all these numbers lie, with a little room around."""
    low, high = min(values), max(values)
    room = (high - low) * share or abs(high) * 0.1 or 1.0
    return low - room, high + room


def number_label(value: float) -> str:
    """A number at an axis: 0.25, 1,000, 10⁻⁶."""
    if value == 0:
        return "0"
    if abs(value) >= 1e6 or abs(value) < 1e-3:
        exponent = floor(log10(abs(value)) + 1e-9)
        factor = value / 10.0**exponent
        power = f"10{str(exponent).translate(SUPERSCRIPTS)}"
        return power if abs(factor - 1) < 1e-6 else f"{factor:.3g}·{power}"
    return f"{value:,.6g}"


def count_label(value: float) -> str:
    """A count at an axis: 200k, 1.5M."""
    for size, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= size:
            return f"{value / size:g}{unit}"
    return f"{value:g}"


def _round_step(step: float) -> float:
    power = 10.0 ** floor(log10(step))
    return next(factor * power for factor in STEPS if factor * power >= step * (1 - 1e-9))


def _powers_of_ten(low: float, high: float, about: int) -> list[float]:
    first, last = ceil(log10(low) - 1e-9), floor(log10(high) + 1e-9)
    every = max(1, ceil((last - first + 1) / max(about, 1)))
    found = [10.0**power for power in range(last, first - 1, -every)][::-1]
    if len(found) > 1:
        return found
    closer = [n * 10.0**p for p in range(first - 1, last + 1) for n in (1, 2, 5)]
    return [value for value in closer if low * (1 - 1e-9) <= value <= high * (1 + 1e-9)]
