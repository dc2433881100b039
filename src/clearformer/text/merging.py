"""The merges of many pieces, all of them at once.

The definition joins, again and again, the pair of a piece that was learned first. Here one pass
joins every pair that the definition is certain to join as it stands, so that there are about as
many passes as merges on top of each other.

A pair is certain if nothing takes one of its ids away before its turn. What could take the left
one is a merge with the id then before it, which is the one that is there now or one that ends
with it. So if every merge of such an id with the left one was learned later than the pair, and
the same is true on the right, the pair will be joined. That it is joined early makes no
difference: whatever has a use for what it makes was learned later still.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from clearformer.text.bytepair_learning import BYTES
from clearformer.text.ids import Ids, stretches
from clearformer.text.places import Places

_NEVER = np.iinfo(np.int32).max
"""Later than every merge."""

_GONE = _NEVER
"""The pair of an id that was joined to the one on its left."""

_ASCII = 128
"""Characters below are one byte, their number."""


@dataclass
class _Row:
    """The ids of many pieces; each keeps its place, however many before it are joined."""

    ids: Ids
    """What is in each place (places,)."""

    pairs: Ids
    """The number (places,) of the pair that begins there."""

    before: Ids
    """The place (places,) of the id before."""

    after: Ids
    """The place (places,) of the id behind."""

    open: Ids
    """Where pairs stand that some merge joins, in no order."""

    borders: Ids
    """The place (pieces,) behind each piece."""


class Merging:
    """Merges prepared for many pieces.

    Each pair of ids that matters has a number: those that a merge joins that of the merge. Arrays
    have an entry for each, and a last one for all other pairs: `from_left` (the first merge of its
    right id with its left one or with one that ends with that) and `from_right` (likewise).
    `made` has one for each merge: which id it makes. `first_as_left` and `first_as_right` have one
    for each id: the first merge in which it is on that side.
    """

    def __init__(self, merges: Sequence[tuple[int, int]], made: Sequence[int]) -> None:
        """Of each merge the pair, and the id that it makes."""
        left, right = np.array(merges, np.int64).reshape(-1, 2).T
        order = np.arange(len(left))
        self._between = BYTES + len(left)  # no id is as large
        before, before_merge = _nested(left, right)
        after, after_merge = _nested(right, left)
        keys = (left, right), (before, right[before_merge]), (left[after_merge], after)
        every = np.concatenate([self._keys(*pair) for pair in keys])
        joined, beside = np.split(every, [len(left)])
        others = np.unique(beside[Places(joined)(beside) == len(joined)])
        different = np.concatenate((joined, others))
        self._places = Places(different)
        from_left, from_right = np.split(self._places(beside), [len(before)])
        self._made = np.array(made, np.int32)
        # Of use before it is made is what two merges make; then nothing counts as certain.
        none = _NEVER if np.array_equal(made, BYTES + order) else -1
        self._from_left, self._from_right = np.full((2, len(different) + 1), none)
        np.minimum.at(self._from_left, from_left, before_merge)
        np.minimum.at(self._from_right, from_right, after_merge)
        self._first_as_left, self._first_as_right = np.full((2, self._between + 1), none)
        np.minimum.at(self._first_as_left, left, order)
        np.minimum.at(self._first_as_right, right, order)

    def __call__(self, points: Ids, lengths: Ids) -> tuple[Ids, Ids]:
        """The ids of all pieces, one piece after another, and how many (pieces,) each has.

        Characters come first, whatever is beside them: there are far fewer different ones.

        Args:
            points: the characters of all pieces.
            lengths: how many (pieces,) each has, at least one.
        """
        highest = int(points.max())
        if highest < _ASCII:
            return self._merged(points, lengths, self._certain_or_first)
        present = np.zeros(highest + 1, bool)
        present[points] = True
        which = (np.cumsum(present) - 1).take(points)
        spelled = [chr(point).encode("utf-8") for point in np.flatnonzero(present).tolist()]
        raw = np.frombuffer(b"".join(spelled), np.uint8)
        ids, sizes = self._merged(raw, np.array([*map(len, spelled)]), self._certain_anywhere)
        of_each = sizes.take(which)
        ids = stretches(ids, (np.cumsum(sizes) - sizes).take(which), of_each)
        of_pieces = np.add.reduceat(of_each, np.cumsum(lengths) - lengths)
        return self._merged(ids, of_pieces, self._certain_or_first)

    def _merged(self, ids: Ids, sizes: Ids, chosen: Callable[[_Row], Ids]) -> tuple[Ids, Ids]:
        """Joins the pairs chosen, of which no two may overlap, until there are none."""
        borders = np.cumsum(sizes + 1)
        row = self._row(self._parted(ids, borders), borders)
        while (at := chosen(row)).size:
            self._join(row, at)
        ids = row.ids.compress(row.pairs != _GONE)
        between = ids == self._between
        return ids.compress(~between), np.diff(np.flatnonzero(between)) - 1

    def _parted(self, spelled: Ids, borders: Ids) -> Ids:
        """The bytes as ids, with an id that is in no pair before, between and after pieces."""
        ids = np.full(len(spelled) + len(borders) + 1, self._between, np.int32)
        inside = np.ones(len(ids), bool)
        inside[0] = False
        inside[borders] = False
        ids[inside] = spelled
        return ids

    def _row(self, ids: Ids, borders: Ids) -> _Row:
        pairs = np.append(self._pairs(ids[:-1], ids[1:]), np.int32(self._places.absent))
        places = np.arange(len(ids), dtype=np.int32)
        return _Row(ids, pairs, places - 1, places + 1, self._joinable(places, pairs), borders)

    def _join(self, row: _Row, at: Ids) -> None:
        """Puts what a pair makes in the place of its left id; the right one is passed over."""
        row.ids[at] = self._made.take(row.pairs.take(at))
        gone = row.after.take(at)
        row.pairs[gone] = _GONE
        row.after[at] = after = row.after.take(gone)
        row.before[after] = at
        before = row.before.take(at)
        unknown = before.compress(row.pairs.take(before) >= len(self._made))
        changed = np.concatenate((before, at))
        behind = row.after.take(changed)
        row.pairs[changed] = self._pairs(row.ids.take(changed), row.ids.take(behind))
        row.open = self._joinable(np.concatenate((row.open, unknown)), row.pairs)

    def _joinable(self, places: Ids, pairs: Ids) -> Ids:
        """Those places where a pair stands that a merge joins."""
        return places.compress(pairs.take(places) < len(self._made))

    def _certain_anywhere(self, row: _Row) -> Ids:
        """Where pairs stand that will be joined whatever is before and after the piece."""
        learned = row.pairs.take(row.open)
        left, right = row.ids.take(row.open), row.ids.take(row.after.take(row.open))
        certain = learned < self._first_as_right.take(left)
        certain &= learned <= self._first_as_left.take(right)
        return row.open.compress(certain)

    def _certain_or_first(self, row: _Row) -> Ids:
        """Where pairs stand that will be joined; if none is certain, the first of each piece."""
        learned = row.pairs.take(row.open)
        before, after = row.before.take(row.open), row.after.take(row.open)
        certain = learned < self._from_left.take(row.pairs.take(before))
        certain &= learned <= self._from_right.take(row.pairs.take(after))
        return row.open.compress(certain) if certain.any() else self._first(row)

    def _first(self, row: _Row) -> Ids:
        """Where in each piece the pair learned first stands, of equal ones the leftmost."""
        piece = np.searchsorted(row.borders, row.open)
        order = np.lexsort((row.open, row.pairs.take(row.open), piece))
        return row.open[order[np.unique(piece[order], return_index=True)[1]]]

    def _pairs(self, left: Ids, right: Ids) -> Ids:
        return self._places(self._keys(left, right))

    def _keys(self, left: Ids, right: Ids) -> Ids:
        return np.multiply(left, self._between + 1, dtype=np.int64) + right


def _nested(ids: Ids, part: Ids) -> tuple[Ids, Ids]:
    """One id of each merge, that part of it, that part of the part …; and whose merge it is."""
    merges = np.arange(len(ids))
    found = [(ids, merges)]
    while (made := ids >= BYTES).any():
        ids, merges = part[ids[made] - BYTES], merges[made]
        found.append((ids, merges))
    every_id, every_merge = zip(*found, strict=True)
    return np.concatenate(every_id), np.concatenate(every_merge)
