"""Gathering what many cases say about one operation."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np

from clearformer.verification.report import Error, Row
from clearformer.verification.sensitivity import movements
from clearformer.verification.sides import Function, Outcome, Side, reference
from clearformer.verification.tolerance import GRADIENT, NARROW, VALUE, Tolerance


class Worst:
    """The largest error over many arrays."""

    def __init__(self, tolerance: Tolerance):
        self.tolerance = tolerance
        self._number = -1.0
        self._where = ""

    def meet(
        self,
        found: np.ndarray,
        expected: np.ndarray,
        where: object,
        movement: np.ndarray | None = None,
    ) -> None:
        """Compares two arrays."""
        number = self.tolerance.error(found, expected, movement)
        if number > self._number:
            self._number, self._where = number, str(where)

    def error(self) -> Error | None:
        """The largest; None if nothing was met."""
        if self._number < 0:
            return None
        return Error(self._number, self.tolerance.bound, self._where)


class Comparison:
    """Makes a row from cases that ran on two sides.

    Args:
        name: of the row.
        dtype: the type of number, which decides the tolerances unless they are given.
        value: tolerance of values.
        gradient: tolerance of gradients.
    """

    def __init__(
        self,
        name: str,
        dtype: str,
        value: Tolerance | None = None,
        gradient: Tolerance | None = None,
    ):
        self.name, self.dtype = name, dtype
        self.value = Worst(value or VALUE[dtype])
        self.gradient = Worst(gradient or GRADIENT[dtype])
        self._failure = ""

    def run(
        self,
        function: Function,
        arrays: Sequence[np.ndarray],
        side: Side,
        where: object,
        seed: np.ndarray | float = 1.0,
    ) -> None:
        """Runs a function on a side, and on the reference with the numbers that the side saw."""
        believed = reference()
        found = side.run(function, arrays, seed)
        expected = believed.run(function, found.inputs, found.seed)
        doubtful = self.dtype in NARROW and not self._is_well_within(found, expected)
        moved = movements(function, believed, expected) if doubtful else ()
        self.meet(found, expected, where, moved)

    def meet(
        self,
        found: Outcome,
        expected: Outcome,
        where: object,
        moved: Sequence[np.ndarray | None] = (),
    ) -> None:
        """Compares value and gradients; `moved` is what `movements` returns."""
        moved = moved or [None] * (1 + len(found.gradients))
        self.value.meet(found.value, expected.value, where, moved[0])
        for arrays in zip(found.gradients, expected.gradients, moved[1:], strict=True):
            self.gradient.meet(arrays[0], arrays[1], where, arrays[2])

    def _is_well_within(self, found: Outcome, expected: Outcome) -> bool:
        """Whether movements, which take a while and only make errors smaller, are not needed."""
        pairs = [(self.value.tolerance, found.value, expected.value)]
        for mine, wanted in zip(found.gradients, expected.gradients, strict=True):
            pairs.append((self.gradient.tolerance, mine, wanted))
        return all(
            tolerance.error(mine, wanted) <= tolerance.bound / 2
            for tolerance, mine, wanted in pairs
        )

    @contextmanager
    def attempt(self, where: object) -> Iterator[None]:
        """Whatever is raised inside counts as a disagreement, and the first is told."""
        try:
            with np.errstate(all="ignore"):  # extreme numbers may overflow on the way
                yield
        except Exception as error:  # of whichever kind: an engine may raise anything
            told = f"raised {type(error).__name__} in {where}: {' '.join(str(error).split())}"
            self._failure = self._failure or told

    def row(self) -> Row:
        """What came out."""
        return Row(self.name, self.dtype, self.value.error(), self.gradient.error(), self._failure)
