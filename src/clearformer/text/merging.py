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

import numpy as np

from clearformer.text.bytepair_learning import BYTES
from clearformer.text.ids import Ids, stretches
from clearformer.text.places import Places

_NEVER = np.iinfo(np.int32).max
"""Later than every merge."""


class Merging:
    """Merges prepared for many pieces.

    Arrays have an entry for each pair of ids that matters, and a last one for all others:
    `learned` (in which merge), `made` (which id), `from_left` (the first merge of its right id
    with its left one or with one that ends with that) and `from_right` (likewise). `first_as_left`
    and `first_as_right` have one for each id: the first merge in which it is on that side.
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
        different, which = np.unique(every, return_inverse=True)
        own, from_left, from_right = np.split(which, [len(left), len(left) + len(before)])
        self._places = Places(different)
        self._learned = np.full(len(different) + 1, _NEVER)
        self._made = np.zeros(len(different) + 1, np.int64)
        self._learned[own], self._made[own] = order, made
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
        present = np.zeros(int(points.max()) + 1, bool)
        present[points] = True
        which = (np.cumsum(present) - 1)[points]
        spelled = [chr(point).encode("utf-8") for point in np.flatnonzero(present).tolist()]
        raw = np.frombuffer(b"".join(spelled), np.uint8)
        ids, sizes = self._merged(raw, np.array([*map(len, spelled)]), self._certain_anywhere)
        ids = stretches(ids, (np.cumsum(sizes) - sizes)[which], sizes[which])
        of_pieces = np.add.reduceat(sizes[which], np.cumsum(lengths) - lengths)
        return self._merged(ids, of_pieces, self._certain_or_first)

    def _merged(self, ids: Ids, sizes: Ids, chosen: Callable[[Ids, Ids], Ids]) -> tuple[Ids, Ids]:
        """Joins the pairs chosen, of which no two may overlap, until there are none."""
        ids = self._parted(ids, sizes)
        pairs = self._pairs(ids[:-1], ids[1:])
        while (at := chosen(ids, pairs)).size:
            ids[at] = self._made[pairs[at]]
            kept = np.ones(len(ids), bool)
            kept[at + 1] = False
            ids, pairs = ids[kept], pairs[kept[:-1]]
            at -= np.arange(len(at))
            pairs[at - 1] = self._pairs(ids[at - 1], ids[at])
            pairs[at] = self._pairs(ids[at], ids[at + 1])
        between = ids == self._between
        return ids[~between], np.diff(np.flatnonzero(between)) - 1

    def _parted(self, spelled: Ids, sizes: Ids) -> Ids:
        """The bytes as ids, with an id that is in no pair before, between and after pieces."""
        ids = np.full(len(spelled) + len(sizes) + 1, self._between, np.int64)
        inside = np.ones(len(ids), bool)
        inside[0] = False
        inside[np.cumsum(sizes + 1)] = False
        ids[inside] = spelled
        return ids

    def _certain_anywhere(self, ids: Ids, pairs: Ids) -> Ids:
        """Where pairs stand that will be joined whatever is before and after the piece."""
        known = np.flatnonzero(pairs != self._places.absent)
        learned = self._learned[pairs[known]]
        certain = learned < self._first_as_right[ids[known]]
        certain &= learned <= self._first_as_left[ids[known + 1]]
        return known[certain]

    def _certain_or_first(self, ids: Ids, pairs: Ids) -> Ids:
        """Where pairs stand that will be joined; if none is certain, the first of each piece."""
        known = np.flatnonzero(pairs != self._places.absent)
        learned = self._learned[pairs[known]]
        certain = learned < self._from_left[pairs[known - 1]]
        certain &= learned <= self._from_right[pairs[known + 1]]
        return known[certain] if certain.any() else self._first(ids, pairs)

    def _first(self, ids: Ids, pairs: Ids) -> Ids:
        """Where in each piece the pair learned first stands, of equal ones the leftmost."""
        known = np.flatnonzero(self._learned[pairs] != _NEVER)
        piece = np.cumsum(ids == self._between)[known]
        order = np.lexsort((self._learned[pairs[known]], piece))
        return known[order[np.unique(piece[order], return_index=True)[1]]]

    def _pairs(self, left: Ids, right: Ids) -> Ids:
        return self._places(self._keys(left, right))

    def _keys(self, left: Ids, right: Ids) -> Ids:
        return left * (self._between + 1) + right


def _nested(ids: Ids, part: Ids) -> tuple[Ids, Ids]:
    """One id of each merge, that part of it, that part of the part …; and whose merge it is."""
    merges = np.arange(len(ids))
    found = [(ids, merges)]
    while (made := ids >= BYTES).any():
        ids, merges = part[ids[made] - BYTES], merges[made]
        found.append((ids, merges))
    every_id, every_merge = zip(*found, strict=True)
    return np.concatenate(every_id), np.concatenate(every_merge)
