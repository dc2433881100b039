"""The places of numbers in a list, found for many at a time."""

import numpy as np

from clearformer.text.ids import Ids

SLOTS = 16
"""Slots of a table for each number, about."""

_GOLDEN, _FURTHER = 0x9E3779B97F4A7C15, 0xD1342543DE82EF95
"""Odd, their bits as if thrown. The first is the golden section of 2^64."""

_MASK = (1 << 64) - 1


class Places:
    """A number lies in the slot that its product with an odd one points to (Knuth, vol. 3, 6.4).

    One whose slot is taken lies in a further table, which is made with another odd number. So one
    that is asked for and whose slot is empty lies in none of them. Five times as fast as a search
    in a sorted list.

    Attributes:
        absent: the place of what is not in the list: behind its end.
    """

    def __init__(self, keys: Ids) -> None:
        """`keys` (numbers,) of 64 bits, not negative, each of them once."""
        self.absent = len(keys)
        self._keys = np.append(keys, -1).view(np.uint64)
        self._tables: list[tuple[np.uint64, np.uint64, Ids]] = []
        keys, places = keys.view(np.uint64), np.arange(len(keys), dtype=np.int32)
        multiplier = _GOLDEN
        while keys.size:
            bits = (SLOTS * len(keys)).bit_length()
            by, shift = np.uint64(multiplier), np.uint64(64 - bits)
            slots = keys * by >> shift
            place_there = np.full(1 << bits, self.absent, np.int32)
            place_there[slots] = places
            self._tables.append((by, shift, place_there))
            without = place_there[slots] != places
            keys, places = keys[without], places[without]
            multiplier = multiplier * _FURTHER & _MASK

    def __call__(self, asked: Ids) -> Ids:
        """The place (asked,) of each in the list; `absent` for those that are not in it."""
        return self._found(asked.view(np.uint64), 0)

    def _found(self, asked: Ids, table: int) -> Ids:
        if table == len(self._tables):
            return np.full(len(asked), self.absent, np.int32)
        by, shift, place_there = self._tables[table]
        found = place_there.take((asked * by >> shift).view(np.int64))
        others = np.flatnonzero((found != self.absent) & (self._keys.take(found) != asked))
        if others.size:
            found[others] = self._found(asked.take(others), table + 1)
        return found
