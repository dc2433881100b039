"""Which stretches of an array are the same."""

from collections.abc import Iterator

import numpy as np

from clearformer.text.ids import Ids

WORD = 8
"""Bytes compared at a time."""

LONGEST_STRETCH = 128
"""Bytes of a stretch at most."""

_KEPT = np.full(LONGEST_STRETCH + 1, (1 << 64) - 1, np.uint64)
"""By the bytes left of a stretch, which bits of a word belong to it."""
_KEPT[:WORD] = [(1 << 8 * size) - 1 for size in range(WORD)]

_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
"""Odd, its bits as if thrown: the golden section of 2^64."""

_HALF = np.uint64(32)

SLOTS = 4
"""Slots of the table for each stretch, about."""


def first_alike(points: Ids, borders: Ids) -> Ids:
    """For each stretch the number (stretches,) of the first that equals it.

    All stretches put their number in a slot of a table that their bytes point to, the first of
    those with the same slot last, and read there which it was. Those that read the number of a
    different one, some in a thousand, are looked up one by one.

    Args:
        points: (characters,) of 1, 2 or 4 bytes each.
        borders: where each stretch begins and, beside it, ends (stretches + 1,), ascending from 0.
    """
    stretches = _Stretches(points, borders)
    first = _first_in_slot(stretches.mixed())
    others = np.flatnonzero(~stretches.equal(first))
    seen: dict[bytes, int] = {}
    first[others] = [seen.setdefault(stretches.bytes_of(other), other) for other in others.tolist()]
    return first


def _first_in_slot(mixed: Ids) -> Ids:
    """For each stretch the first (stretches,) whose number made of its words has the same slot."""
    bits = (SLOTS * len(mixed)).bit_length()
    slots = (mixed >> np.uint64(64 - bits)).view(np.int64)
    table = np.empty(1 << bits, np.int32)
    table[slots[::-1]] = np.arange(len(mixed) - 1, -1, -1, dtype=np.int32)
    return table.take(slots)


class _Stretches:
    """The bytes of stretches as words of 64 bits, zeros behind the end."""

    def __init__(self, points: Ids, borders: Ids) -> None:
        self._size = points.itemsize
        self._raw = points.tobytes() + bytes(WORD)
        self._words = np.ndarray((len(points),), "<u8", self._raw, strides=(self._size,))
        self._starts = borders[:-1]
        self._lengths = (np.diff(borders) * self._size).astype(np.uint8)
        self._first = self._word(0, slice(None))

    def mixed(self) -> Ids:
        """A number (stretches,) made of all words of each."""
        mixed = self._first * _MULTIPLIER
        for number, longer in self._longer():
            before = mixed[longer]
            mixed[longer] = (before ^ before >> _HALF ^ self._word(number, longer)) * _MULTIPLIER
        return mixed

    def equal(self, others: Ids) -> Ids:
        """Whether each (stretches,) has the bytes of the one whose number is given for it."""
        equal = self._first.take(others) == self._first
        equal &= self._lengths.take(others) == self._lengths
        for number, longer in self._longer():
            like = longer[equal[longer]]
            equal[like] = self._word(number, like) == self._word(number, others[like])
        return equal

    def bytes_of(self, stretch: int) -> bytes:
        """All bytes of one."""
        start = int(self._starts[stretch]) * self._size
        return self._raw[start : start + int(self._lengths[stretch])]

    def _longer(self) -> Iterator[tuple[int, Ids]]:
        """Each further word with the stretches that reach into it."""
        longer, number = np.flatnonzero(self._lengths > WORD), 1
        while longer.size:
            yield number, longer
            number += 1
            longer = longer[self._lengths[longer] > WORD * number]

    def _word(self, number: int, stretches: Ids | slice) -> Ids:
        words = self._words[self._starts[stretches] + WORD * number // self._size]
        words &= _KEPT.take(self._lengths[stretches] - np.uint8(WORD * number))
        return words
