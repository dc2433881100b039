"""Addition of two whole numbers, written in decimal digits.

The order in which the numbers stand does not matter for their part: whoever has seen 12+7 is not
asked for 7+12 among the unseen.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from clearformer.tasks.parts import draw_part
from clearformer.tasks.settings import check_whole
from clearformer.tasks.task import Pair, PairTask, Part

LARGEST_DIGITS = 18
"""Two such numbers, and their sum, fit in 64 bits."""


@dataclass(frozen=True)
class Addition(PairTask):
    """57+648 → 705.

    How many digits a number has is drawn evenly from least … most, then the number evenly.
    """

    name: ClassVar[str] = "addition"
    least: int = 1
    """Digits of the shortest number."""
    most: int = 3
    """Digits of the longest number."""

    def __post_init__(self) -> None:
        check_whole("least", self.least, 1, LARGEST_DIGITS)
        check_whole("most", self.most, self.least, LARGEST_DIGITS, "least is the smallest")

    @property
    def alphabet(self) -> tuple[str, ...]:
        """A plus sign and the digits."""
        return tuple("+0123456789")

    @property
    def longest(self) -> tuple[int, int]:
        """Two numbers and the sign; a sum has one digit more at most."""
        return 2 * self.most + 1, self.most + 1

    @property
    def chance(self) -> float:
        """That of the likeliest sum: where both numbers are short, one other fits each of them.

        With n evenly likely numbers of `least` digits some sum is reached from each of them, so
        from n of n² pairs; sums that involve longer numbers are rarer.
        """
        numbers = 10 if self.least == 1 else 9 * 10 ** (self.least - 1)
        return 1 / (self.most - self.least + 1) ** 2 / numbers

    def draw(self, rng: np.random.Generator, count: int, part: Part = "train") -> list[Pair]:
        """So many pairs; see `PairTask`."""
        pairs: list[list[int]] = draw_part(
            count, part, lambda number: self._numbers(rng, number), _key
        )
        return [(f"{a}+{b}", str(a + b)) for a, b in pairs]

    def _numbers(self, rng: np.random.Generator, count: int) -> list[list[int]]:
        digits = rng.integers(self.least, self.most + 1, size=(count, 2))
        first = np.where(digits == 1, 0, 10 ** (digits - 1))  # 0 is a number, 07 is not
        numbers: list[list[int]] = rng.integers(first, 10**digits).tolist()
        return numbers


def _key(numbers: list[int]) -> bytes:
    return b"%d+%d" % (min(numbers), max(numbers))
