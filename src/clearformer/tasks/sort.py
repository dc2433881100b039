"""Sorting: the target has the letters of the source in the order of the alphabet."""

from dataclasses import dataclass
from math import factorial
from typing import ClassVar

from clearformer.tasks.letters import LettersTask


@dataclass(frozen=True)
class Sort(LettersTask):
    """abca → aabc."""

    name: ClassVar[str] = "sort"

    def target(self, source: str) -> str:
        """The letters sorted."""
        return "".join(sorted(source))

    def likeliest(self, length: int) -> float:
        """length! / Π(nᵢ!) / symbolsˡᵉⁿᵍᵗʰ, largest where letters occur equally often (nᵢ)."""
        each, over = divmod(length, self.symbols)
        alike = factorial(each) ** (self.symbols - over) * factorial(each + 1) ** over
        return factorial(length) // alike / self.symbols**length
