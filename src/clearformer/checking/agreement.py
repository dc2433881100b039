"""When two results count as the same: shape first, strictly; then where NaN stands; then values."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

Arrays = Mapping[str, np.ndarray]


@dataclass(frozen=True)
class Tolerance:
    """Differences up to `absolute` + `relative` · |right| count as rounding.

    With `of_largest` also such a share of the largest number in the same array.
    """

    relative: float
    absolute: float
    of_largest: float = 0.0


TOLERANCES = {
    "float64": Tolerance(1e-6, 1e-8),  # room for a 1e-9 that keeps a logarithm from zero
    "float32": Tolerance(2e-5, 2e-6),
    "float16": Tolerance(1e-2, 1e-3),
}
"""By the numbers that an answer computes with; whole numbers are compared as float64."""


ROUNDED = Tolerance(1e-6, 1e-8, of_largest=1e-6)
"""Of double-precision results where something on the way was in single precision: eight times the
step from 1 to the next such number."""


def tolerance_of(*values: Arrays) -> Tolerance:
    """The widest that the numbers in `values` ask for."""
    names = {str(array.dtype) for each in values for array in each.values()}
    found = [TOLERANCES[name] for name in names if name in TOLERANCES]
    return max(found, key=lambda each: each.relative, default=TOLERANCES["float64"])


def agree(mine: Arrays, right: Arrays, tolerance: Tolerance) -> bool:
    """Whether all named arrays of `right` are in `mine` and the same."""
    return all(
        name in mine and same(mine[name], expected, tolerance) for name, expected in right.items()
    )


def same(mine: np.ndarray, right: np.ndarray, tolerance: Tolerance) -> bool:
    """Whether two arrays have one shape, NaN in the same places, and the same values elsewhere."""
    if mine.shape != right.shape or not _is_number(mine):
        return False
    return bool(not different(mine, right, tolerance).any())


def different(mine: np.ndarray, right: np.ndarray, tolerance: Tolerance) -> np.ndarray:
    """True where two arrays of one shape differ."""
    a, b = mine.astype(np.float64), right.astype(np.float64)
    with np.errstate(invalid="ignore", over="ignore"):
        allowed = tolerance.absolute + tolerance.of_largest * _largest(b)
        close = np.abs(a - b) <= allowed + tolerance.relative * np.abs(b)
        close &= np.isfinite(b)  # everything is within infinity times something
    return ~(close | (a == b) | (np.isnan(a) & np.isnan(b)))


def _is_number(array: np.ndarray) -> bool:
    return array.dtype.kind in "fiub"


def _largest(array: np.ndarray) -> float:
    return float(np.abs(array[np.isfinite(array)]).max(initial=0.0))
