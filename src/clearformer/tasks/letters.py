"""What the tasks on rows of letters share: random sources, and how likely a guess is right."""

from abc import abstractmethod
from dataclasses import dataclass
from string import ascii_lowercase

import numpy as np

from clearformer.tasks.parts import draw_part
from clearformer.tasks.settings import check_whole
from clearformer.tasks.task import Pair, PairTask, Part

LARGEST_LENGTH = 10_000


@dataclass(frozen=True)
class LettersTask(PairTask):
    """Random letters as a source; subclasses say what becomes of them.

    The length is drawn evenly from least … most, then each letter evenly.
    """

    least: int = 4
    """Letters of the shortest source."""
    most: int = 16
    """Letters of the longest source."""
    symbols: int = 26
    """How many letters of the alphabet occur, from a on."""

    def __post_init__(self) -> None:
        check_whole("least", self.least, 1, LARGEST_LENGTH)
        check_whole("most", self.most, self.least, LARGEST_LENGTH, "least is the smallest")
        check_whole("symbols", self.symbols, 2, len(ascii_lowercase))

    @property
    def alphabet(self) -> tuple[str, ...]:
        """The first `symbols` letters."""
        return tuple(ascii_lowercase[: self.symbols])

    @property
    def longest(self) -> tuple[int, int]:
        """As many letters in the target as in the source."""
        return self.most, self.most

    @property
    def chance(self) -> float:
        """That of the likeliest target of the likeliest length."""
        lengths = self.most - self.least + 1
        return max(map(self.likeliest, range(self.least, self.most + 1))) / lengths

    @abstractmethod
    def target(self, source: str) -> str:
        """The one right answer."""

    def likeliest(self, length: int) -> float:
        """How likely the likeliest target is among those of one length."""
        return float(self.symbols) ** -length

    def draw(self, rng: np.random.Generator, count: int, part: Part = "train") -> list[Pair]:
        """So many pairs; see `PairTask`."""
        sources: list[str] = draw_part(
            count, part, lambda number: self._sources(rng, number), str.encode
        )
        return [(source, self.target(source)) for source in sources]

    def _sources(self, rng: np.random.Generator, count: int) -> list[str]:
        lengths = rng.integers(self.least, self.most + 1, size=count)
        letters = rng.integers(self.symbols, size=lengths.sum(), dtype=np.uint8) + ord("a")
        text, ends = letters.astype(np.uint8).tobytes().decode("ascii"), lengths.cumsum()
        starts = (ends - lengths).tolist()
        return [text[a:b] for a, b in zip(starts, ends.tolist(), strict=True)]
