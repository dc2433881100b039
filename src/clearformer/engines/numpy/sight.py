"""What a band of queries may see of the keys, tile by tile; hidden tiles are left out."""

from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from clearformer.engines.bounds import check_mask

Heads = tuple[int | slice, ...]
"""Which of the attentions along the leading axes: of the last of these axes, some in a row."""


class Tile(NamedTuple):
    """Some keys, seen by a band of queries."""

    keys: slice
    begin: int
    """How many of the first keys are seen by every query of the band."""
    allowed: np.ndarray | None
    """For the other keys: (key, query), True where looking is allowed; None if everywhere."""


class Sight:
    """The mask and the causal rule, without the table of both.

    Args:
        mask: True where looking is allowed, of a shape that fits `scores`; None: everywhere.
        causal: query i sees the keys 0 … i only.
        scores: the shape (*lead, query, key) of the table.
        lead: the leading axes of what is computed, of which those of `scores` may be a part.

    Raises:
        ShapeError: if the mask does not fit.
    """

    def __init__(
        self,
        mask: np.ndarray | None,
        causal: bool,
        scores: tuple[int, ...],
        lead: tuple[int, ...],
    ):
        self._causal = causal
        self._keys = scores[-1]
        self._mask = None
        if mask is not None:
            check_mask(mask.shape, scores)
            mask = np.atleast_2d(mask)
            self._mask = np.broadcast_to(mask, (*lead, *mask.shape[-2:]))

    @property
    def is_shared(self) -> bool:
        """Whether all heads see the same, whatever else differs."""
        return self._mask is None or self._mask.strides[-3] == 0

    def end(self, band: slice) -> int:
        """How many keys come before the first that this band of queries never sees by the rule."""
        return min(band.stop, self._keys) if self._causal else self._keys

    def tiles(self, heads: Heads, band: slice, most: int) -> Iterator[Tile]:
        """The tiles of at most `most` keys of which this band of queries may see something.

        `most` is a multiple of 16; the heads are one, or such as see the same.
        """
        last = self.end(band)
        if self._mask is None:
            for keys in _cut(0, last, most):
                yield self._by_rule(band, keys)
            return
        mask = self._mask[heads][0]
        mask = mask if len(mask) == 1 else mask[band]  # else all queries see the same
        mask = np.broadcast_to(mask, (len(mask), self._keys))
        seen = np.flatnonzero(mask[:, :last].any(0))
        if len(seen):
            for keys in _cut(int(seen[0]), int(seen[-1]) + 1, most):
                yield from self._by_mask(mask[:, keys], band, keys)

    def _by_mask(self, mask: np.ndarray, band: slice, keys: slice) -> Iterator[Tile]:
        """The tile with what the mask leaves of it; none where that is nothing."""
        tile = self._by_rule(band, keys)
        if mask.all():
            yield tile
        elif mask.any():
            queries = band.stop - band.start
            allowed = np.array(np.broadcast_to(mask.T, (keys.stop - keys.start, queries)))
            if tile.allowed is not None:
                allowed[tile.begin :] &= tile.allowed
            yield Tile(keys, 0, allowed)

    def _by_rule(self, band: slice, keys: slice) -> Tile:
        """The tile where only the causal rule hides anything."""
        if not self._causal or keys.stop <= band.start + 1:
            return Tile(keys, 0, None)
        start = max(keys.start, band.start)
        size = keys.stop - start, band.stop - band.start
        return Tile(keys, start - keys.start, _staircase(*size, start - band.start))


def _cut(first: int, last: int, most: int) -> list[slice]:
    """first … last in pieces as equal as multiples of 16 can be, none longer than `most`."""
    pieces = -(-(last - first) // most)
    length = -(-(last - first) // (16 * pieces)) * 16
    return [slice(start, min(start + length, last)) for start in range(first, last, length)]


@lru_cache(maxsize=64)
def _staircase(keys: int, queries: int, ahead: int) -> np.ndarray:
    """(key, query) table of the causal rule where the first key is `ahead` of the first query."""
    table = ~np.tri(keys, queries, ahead - 1, dtype=bool)
    table.flags.writeable = False
    return table
