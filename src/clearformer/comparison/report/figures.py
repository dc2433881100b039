"""How numbers are written: the same in every language."""

from collections.abc import Callable, Mapping

MEGABYTE = 1e6


def count(value: float) -> str:
    """1,234."""
    return f"{value:,.0f}"


def share(value: float) -> str:
    """12.3 %."""
    return f"{100 * value:.1f} %"


def significant(value: float) -> str:
    """Three significant digits, or a power of ten where there are many zeros."""
    if value == 0 or 1e-3 <= abs(value) < 1e5:
        digits = f"{value:.3g}"
        return f"{float(digits):,.0f}" if abs(value) >= 1000 else digits
    number, exponent = f"{value:.1e}".split("e")
    signs = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
    return f"{number}·10{str(int(exponent)).translate(signs)}"


def _seconds(value: float) -> str:
    return f"{value:,.1f}" if value >= 1 else significant(value)


def _perplexity(value: float) -> str:
    return f"{value:,.2f}" if value < 1e4 else significant(value)


WRITTEN: Mapping[str, Callable[[float], str]] = {
    "bits_per_character": lambda value: f"{value:.3f}",
    "perplexity": _perplexity,
    "loss": lambda value: f"{value:.3f}",
    "accuracy": share,
    "seconds": _seconds,
    "tokens_per_second": count,
    "memory": lambda value: f"{value / MEGABYTE:,.1f}",
}
"""By measure of the document."""


def half_width(measure: str, low: float, high: float) -> str:
    """Half the breadth of an interval, in the digits of its mean."""
    half = (high - low) / 2
    if measure == "accuracy":
        return f"{100 * half:.1f}"
    return WRITTEN[measure](half)
