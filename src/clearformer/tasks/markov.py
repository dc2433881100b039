"""Text of a Markov source as rows of ids: how far a model is from the limit is a number."""

from dataclasses import dataclass
from functools import cached_property
from string import ascii_lowercase
from typing import ClassVar

import numpy as np

from clearformer.tasks.markov_source import MarkovSource, random_source
from clearformer.tasks.parts import draw_part
from clearformer.tasks.settings import check_whole
from clearformer.tasks.task import IGNORED, Block, Part, SequenceTask


@dataclass(frozen=True)
class MarkovText(SequenceTask):
    """Asks for the next symbol, as soon as all that it depends on has been seen.

    Position t has seen t + 1 symbols, so the first order - 1 positions are not asked. At the others
    no predictor has a lower expected loss than the entropy rate of the source.
    """

    name: ClassVar[str] = "markov"
    order: int = 2
    """Symbols on which the next one depends."""
    symbols: int = 12
    """How many letters occur, from a on."""
    length: int = 64
    """Positions in a row."""
    source_seed: int = 0
    """Decides the probabilities of the source."""

    def __post_init__(self) -> None:
        check_whole("order", self.order, 1, 5)
        check_whole("symbols", self.symbols, 2, len(ascii_lowercase))
        check_whole("length", self.length, 16, 2**20, "shorter rows would occur again and again")
        check_whole("source_seed", self.source_seed, 0, 2**53)
        self.source  # noqa: B018 - a source that cannot be is refused at once

    @cached_property
    def source(self) -> MarkovSource:
        """Where the text comes from."""
        return random_source(self.order, self.symbols, self.source_seed)

    @property
    def vocabulary(self) -> tuple[str, ...]:
        """The first `symbols` letters."""
        return tuple(ascii_lowercase[: self.symbols])

    @property
    def context(self) -> int:
        """As `length` says."""
        return self.length

    @property
    def best(self) -> float:
        """The entropy rate, in nats per symbol."""
        return self.source.entropy_rate

    def draw(
        self, rng: np.random.Generator, rows: int, part: Part = "train"
    ) -> tuple[Block, Block]:
        """Inputs and targets (rows, seq); each target is the next input."""
        drawn: list[np.ndarray] = draw_part(
            rows, part, lambda count: self._texts(rng, count), lambda row: row.tobytes()
        )
        ids = np.stack(drawn).astype(np.intp)
        targets = ids[:, 1:].copy()
        targets[:, : self.order - 1] = IGNORED
        return ids[:, :-1], targets

    def _texts(self, rng: np.random.Generator, count: int) -> list[np.ndarray]:
        return [self.source.draw(rng, self.length + 1) for _ in range(count)]
