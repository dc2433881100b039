"""Pairs as rows of ids, for models that read from left to right and predict the next token.

    input      a   b   c  ⟨to⟩  c   b   a   ⟨pad⟩
    target     –   –   –   c    b   a  ⟨end⟩   –

The source, a mark, the target, an end mark, then padding. Only the target and its end are asked.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from clearformer.tasks.task import IGNORED, Answer, Block, PairTask, Part, SequenceTask

PAD, TO, END = 0, 1, 2

MARKS = ("⟨pad⟩", "⟨to⟩", "⟨end⟩")
"""Their ids are their places: 0, 1, 2. Each is longer than any character of a text."""


@dataclass(frozen=True)
class Sequences(SequenceTask):
    """A task of pairs, as one of rows."""

    pairs: PairTask
    """Where the pairs come from."""
    answer: ClassVar[Answer] = "row"

    @property
    def name(self) -> str:
        """That of the task of pairs."""
        return self.pairs.name

    @cached_property
    def vocabulary(self) -> tuple[str, ...]:
        """The marks, then the alphabet."""
        return MARKS + self.pairs.alphabet

    @property
    def context(self) -> int:
        """The longest source, the mark, and the longest target, whose end is only predicted."""
        return sum(self.pairs.longest) + 1

    @property
    def chance(self) -> float:
        """Share of targets guessed right as a whole, with their end."""
        return self.pairs.chance

    @property
    def best(self) -> float:
        """0: the source decides the target."""
        return 0.0

    def draw(
        self, rng: np.random.Generator, rows: int, part: Part = "train"
    ) -> tuple[Block, Block]:
        """Inputs and targets (rows, seq), -100 where nothing is asked."""
        pairs = self.pairs.draw(rng, rows, part)
        ids = np.full((rows, self.context + 1), PAD, np.intp)
        asked = np.zeros((rows, self.context + 1), bool)
        for row, (source, target) in enumerate(pairs):
            begin, end = len(source) + 1, len(source) + len(target) + 2
            ids[row, :end] = [*self.encode(source), TO, *self.encode(target), END]
            asked[row, begin:end] = True
        return ids[:, :-1], np.where(asked, ids, IGNORED)[:, 1:]

    def encode(self, text: str) -> list[int]:
        """The ids of the characters of a text.

        Raises:
            KeyError: a character is not in the alphabet.
        """
        return [self._places[character] for character in text]

    def decode(self, ids: np.ndarray) -> str:
        """The text that ids stand for, up to the end mark; other marks stand for nothing."""
        stop = np.flatnonzero(ids == END)
        kept = ids[: stop[0]] if len(stop) else ids
        return "".join(self.vocabulary[id] for id in kept.tolist() if id >= len(MARKS))

    @cached_property
    def _places(self) -> dict[str, int]:
        return {symbol: place for place, symbol in enumerate(self.vocabulary)}


def as_sequences(task: PairTask) -> Sequences:
    """The same task for models that predict the next token; see the module."""
    return Sequences(task)
