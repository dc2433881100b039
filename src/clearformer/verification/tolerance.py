"""How far a number may be from the one it should be, as one error with one bound."""

from dataclasses import dataclass

import numpy as np

FAR = float("inf")
"""The error of a number that is missing, or infinite on one side only."""


@dataclass(frozen=True)
class Tolerance:
    """The largest error that still agrees.

    The error of a number is |found - expected| / (|expected| + floor): relative, but numbers much
    smaller than `floor` are measured against it. `error ≤ bound` is the same as PyTorch's
    `assert_close` with rtol = bound and atol = bound · floor.
    """

    bound: float
    floor: float | None = 1.0
    """None: the error is the difference itself."""

    def error(
        self, found: np.ndarray, expected: np.ndarray, movement: np.ndarray | None = None
    ) -> float:
        """The largest error over all numbers.

        The same infinity, or NaN, at the same place is no error; on one side only it is ∞. So is
        another shape.

        Args:
            found: what was computed.
            expected: what should have been.
            movement: added to the floor of each number (see `sensitivity`).
        """
        if found.shape != expected.shape:
            return FAR
        other = (found != expected) & ~(np.isnan(found) & np.isnan(expected))
        if not other.any():
            return 0.0
        if not (np.isfinite(found[other]).all() and np.isfinite(expected[other]).all()):
            return FAR
        distance = np.abs(found[other] - expected[other])
        if self.floor is not None:
            floor = self.floor if movement is None else self.floor + movement[other]
            distance /= np.abs(expected[other]) + floor
        return float(distance.max())


def _close(relative: float, absolute: float) -> Tolerance:
    return Tolerance(relative, absolute / relative)


NARROW = {"bfloat16": _close(1.6e-2, 1e-5), "float16": _close(1e-3, 1e-5)}
"""Types of 16 bits: four, and two, roundings."""

VALUE = {"float64": _close(1e-12, 1e-12), "float32": _close(1.3e-6, 1e-5), **NARROW}
"""Of an operation's result, by type; but for float64 the defaults of PyTorch's `assert_close`."""

GRADIENT = {**VALUE, "float64": _close(1e-10, 1e-10)}
"""Of its gradients."""

DIFFERENCES = _close(1e-6, 1e-8)
"""Of a gradient in float64 against finite differences."""
