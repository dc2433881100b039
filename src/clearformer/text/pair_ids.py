"""Pairs as ids, and rows of them side by side."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from clearformer.tensor import Int
from clearformer.text.ids import Ids, id_type
from clearformer.text.pairs import Pair
from clearformer.text.tokenizer import Tokenizer


@dataclass(frozen=True, eq=False)
class LongSide:
    """One side of all pairs: its ids in one row, and where each text ends in it."""

    ids: Ids
    borders: Int[np.ndarray, " borders"]
    """Text n is `ids[borders[n] : borders[n + 1]]`."""

    @classmethod
    def of(cls, tokenizer: Tokenizer, texts: Iterable[str]) -> "LongSide":
        """The ids of some texts."""
        parts = [tokenizer.encode(text) for text in texts]
        borders = np.cumsum([0, *map(len, parts)], dtype=np.int64)
        empty = np.zeros(0, id_type(tokenizer.vocabulary_size))
        return cls(np.concatenate([empty, *parts]), borders)

    @property
    def lengths(self) -> Int[np.ndarray, " texts"]:
        """How many ids each text has."""
        return np.diff(self.borders)

    def text(self, number: int) -> Ids:
        """The ids of one text."""
        return self.ids[self.borders[number] : self.borders[number + 1]]


@dataclass(frozen=True, eq=False)
class PairIds:
    """Sources and targets as ids."""

    sources: LongSide
    targets: LongSide

    @classmethod
    def of(cls, tokenizer: Tokenizer, pairs: Sequence[Pair]) -> "PairIds":
        """The ids of some pairs."""
        sides = zip(*pairs, strict=True) if pairs else ((), ())
        return cls(*(LongSide.of(tokenizer, side) for side in sides))

    def __len__(self) -> int:
        return len(self.targets.borders) - 1

    @property
    def tokens(self) -> int:
        """What is predicted: the ids of all targets, and the end of each."""
        return len(self.targets.ids) + len(self)


def side_by_side(
    rows: Sequence[Ids], end: int, begin: int | None = None
) -> tuple[Int[np.ndarray, "rows seq"], Int[np.ndarray, " rows"]]:
    """Texts as rows that are filled up with `end`, and the length of each.

    With `begin` each row begins with it; else each ends with `end`, which counts.
    """
    lengths = np.array([len(row) + 1 for row in rows], np.int64)
    table = np.full((len(rows), int(lengths.max(initial=1))), end, np.int64)
    first = 0 if begin is None else 1
    if begin is not None:
        table[:, 0] = begin
    for place, row in enumerate(rows):
        table[place, first : first + len(row)] = row
    return table, lengths
