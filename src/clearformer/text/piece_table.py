"""The pieces of a whole text, each different one once."""

from dataclasses import dataclass

import numpy as np

from clearformer.text.alike import first_alike
from clearformer.text.borders import piece_borders
from clearformer.text.ids import Ids, stretches


@dataclass(frozen=True)
class PieceTable:
    """Which pieces a text has, and in what order they follow each other."""

    text: Ids
    """The number (characters,) of each character, of the narrowest type of 1, 2 or 4 bytes."""

    starts: Ids
    """Where each of the different pieces (different,) begins for the first time, ascending."""

    lengths: Ids
    """Characters of each (different,)."""

    numbers: Ids
    """Which of the different pieces each piece (pieces,) of the text is."""

    @classmethod
    def of(cls, text: str) -> "PieceTable":
        """The pieces of a text of at least one character, free of lone surrogates."""
        points = points_of(text)
        borders = piece_borders(text, points)
        first = first_alike(points, borders)
        different = np.flatnonzero(first == np.arange(len(first)))
        numbers = np.empty(len(first), np.int32)
        numbers[different] = np.arange(len(different))
        starts = borders[different]
        return cls(points, starts, borders[different + 1] - starts, numbers.take(first))

    def counts(self, text: str) -> dict[str, int]:
        """How often each piece occurs, first seen first."""
        ends = (self.starts + self.lengths).tolist()
        pieces = [text[start:end] for start, end in zip(self.starts.tolist(), ends, strict=True)]
        return dict(zip(pieces, np.bincount(self.numbers).tolist(), strict=True))

    def points(self) -> Ids:
        """The characters of the different pieces, one after another."""
        return stretches(self.text, self.starts, self.lengths)


def points_of(text: str) -> Ids:
    """The number (characters,) of each character, of the narrowest type of 1, 2 or 4 bytes."""
    if text.isascii():
        return np.frombuffer(text.encode("ascii"), np.uint8)
    raw = text.encode("utf-16-le")
    if len(raw) == 2 * len(text):  # else there are characters of twice 16 bits
        return np.frombuffer(raw, "<u2")
    return np.frombuffer(text.encode("utf-32-le"), "<u4")
