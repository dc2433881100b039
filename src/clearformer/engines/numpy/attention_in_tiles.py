"""Attention tile by tile: long sequences in memory that grows with the length, not its square.

A band of queries meets the keys a block at a time; each tile of the table is formed, used and
written over, and tiles that nobody may see are left out. Backwards the tiles are formed again.
`attention_whole` is the same computation and says what is computed; a test holds the two equal.

Tiles lie on their side, (key, query): so every product takes its factors as they are in memory.
(Milakov and Gimelshein, "Online normalizer calculation for softmax", 2018; Dao, "FlashAttention-2",
2023.)
"""

from collections.abc import Callable
from math import sqrt

import numpy as np

from clearformer.engines.numpy.attention_whole import SAFE_SCORE, heads_inside
from clearformer.engines.numpy.power import quickest_power
from clearformer.engines.numpy.products import matrix_product
from clearformer.engines.numpy.sight import Index, Sight, Tile
from clearformer.engines.tape import Gradient
from clearformer.engines.threads import share_out

BAND, WIDE_BAND = 128, 256
"""Queries of a tile. Wide bands make better use of the keys that are read; narrow ones compute less
of what the causal rule then hides."""

WIDE_FROM = 2048
"""Queries from which bands are wide."""

FORWARDS, BACKWARDS = 512 * 1024, 256 * 1024
"""Bytes of a tile; backwards there are two. A cache of 1 MiB holds them beside what they are made
of."""

LENGTH = 512
"""Queries and keys from which tiles are used; where they begin to pay was not measured closer than
that they do at 1,024."""


def tiles_pay(q: np.ndarray, k: np.ndarray, v: np.ndarray) -> bool:
    """Whether it is better done in tiles: numbers that BLAS multiplies, and many of them."""
    one_type = q.dtype == k.dtype == v.dtype and q.dtype in (np.float32, np.float64)
    return one_type and min(q.shape[-2], k.shape[-2]) >= LENGTH


def attend_in_tiles(
    q: np.ndarray,
    k: np.ndarray,
    v: np.ndarray,
    mask: np.ndarray | None,
    causal: bool,
    factor: float,
) -> tuple[np.ndarray, Gradient]:
    """As `attention_whole.attend_whole`; of the table only 1/r and the shift of each row are kept.

    Returns:
        O, and the function that turns dL/dO into dL/dQ, dL/dK and dL/dV.
    """
    work = _Attention(q, k, v, mask, causal, factor)
    mixed = work.forwards()
    return mixed, lambda grad: work.backwards(grad, mixed)


class _Attention:
    """One call: forwards shared out over threads by bands of queries, backwards by heads."""

    def __init__(
        self,
        q: np.ndarray,
        k: np.ndarray,
        v: np.ndarray,
        mask: np.ndarray | None,
        causal: bool,
        factor: float,
    ):
        table = np.broadcast_shapes(q.shape[:-2], k.shape[:-2])
        self._lead = lead = np.broadcast_shapes(table, v.shape[:-2])
        self._sight = Sight(mask, causal, (*table, q.shape[-2], k.shape[-2]), lead)
        self._longest = np.broadcast_to(np.vecdot(k, k).max(-1), lead)
        self._squares = np.broadcast_to(np.vecdot(q, q), (*lead, q.shape[-2]))
        self._q, self._k, self._v = (np.broadcast_to(x, (*lead, *x.shape[-2:])) for x in (q, k, v))
        self._power, self._per_nat = quickest_power()
        self._factor = factor * self._per_nat
        self._band = WIDE_BAND if q.shape[-2] >= WIDE_FROM else BAND
        self._inverse = np.empty((*lead, q.shape[-2]), q.dtype)
        self._shift = np.zeros_like(self._inverse)

    def forwards(self) -> np.ndarray:
        """O."""
        shape = self._q.shape[-2], self._v.shape[-1]
        mixed = heads_inside(self._lead, *shape, self._q.dtype)

        def begin() -> Callable[[tuple[Index, slice]], None]:
            room = _Room(FORWARDS, self._band, self._q.dtype)
            return lambda job: self._mix(room, *job, mixed[job[0]])

        bands = reversed(self._bands())  # with the causal rule, the longest first
        share_out(begin, [(at, band) for band in bands for at in np.ndindex(self._lead)])
        return mixed

    def backwards(self, grad: np.ndarray, mixed: np.ndarray) -> tuple[np.ndarray, ...]:
        """dL/dQ, dL/dK and dL/dV."""
        results = tuple(
            heads_inside(self._lead, x.shape[-2], x.shape[-1], x.dtype)
            for x in (self._q, self._k, self._v)
        )

        def begin() -> Callable[[Index], None]:
            room = _Room(BACKWARDS, self._band, self._q.dtype)
            return lambda at: self._back(room, at, grad[at], mixed[at], *(x[at] for x in results))

        share_out(begin, list(np.ndindex(self._lead)))
        return results

    def _mix(self, room: "_Room", at: Index, band: slice, mixed: np.ndarray) -> None:
        """O for a band of queries."""
        scaled, safe = self._queries(at, band)
        turned = np.ascontiguousarray(scaled.T)
        v, count, kind = self._v[at], turned.shape[1], turned.dtype
        total, shift = np.zeros((2, count), kind)
        highest = np.full_like(total, -np.inf)
        mix: np.ndarray | None = None
        for tile in self._sight.tiles(at, band, room.most):
            table = self._scores(room.table(tile, turned), at, tile, turned, safe)
            if not safe:
                np.maximum(highest, table.max(0), out=highest)
                before, shift = shift, self._shift_of(highest)
                shrink = self._power(np.minimum(before - shift, 0))  # 1 where nothing was seen
                total *= shrink
                if mix is not None:
                    mix *= shrink[:, None]
            self._to_powers(table, tile, None if safe else shift)
            total += np.ones(len(table), kind) @ table
            part = matrix_product(table.T, v[tile.keys])
            mix = part if mix is None else np.add(mix, part, out=mix)
        np.divide(1, total, out=total, where=total != 0)  # a row with nothing allowed stays 0
        if mix is None:
            mixed[band] = 0
        else:
            np.multiply(mix, total[:, None], out=mixed[band])
        self._inverse[at][band], self._shift[at][band] = total, shift

    def _back(
        self,
        room: "_Room",
        at: Index,
        grad: np.ndarray,
        mixed: np.ndarray,
        to_query: np.ndarray,
        to_key: np.ndarray,
        to_value: np.ndarray,
    ) -> None:
        """The gradients of one head; those of keys and values grow from band to band."""
        k, v = self._k[at], self._v[at]
        to_key[...], to_value[...] = 0, 0
        for band in self._bands():
            scaled, safe = self._queries(at, band)
            inverse = self._inverse[at][band]
            shift = None if safe else self._shift[at][band]
            share = grad[band] * inverse[:, None]
            turned, share_turned = np.ascontiguousarray(scaled.T), np.ascontiguousarray(share.T)
            overlap = np.vecdot(grad[band], mixed[band])
            overlap *= inverse
            slope = np.zeros_like(scaled)
            for tile in self._sight.tiles(at, band, room.most):
                powers = self._scores(room.table(tile, turned), at, tile, turned, safe)
                self._to_powers(powers, tile, shift)
                to_value[tile.keys] += matrix_product(powers, share)
                to_scores = matrix_product(
                    v[tile.keys], share_turned, out=room.second(tile, turned)
                )
                to_scores -= overlap
                to_scores *= powers
                to_key[tile.keys] += matrix_product(to_scores, scaled)
                slope += matrix_product(to_scores.T, k[tile.keys])
            np.multiply(slope, self._factor / self._per_nat, out=to_query[band])
        to_key /= self._per_nat

    def _bands(self) -> list[slice]:
        """All queries."""
        length, size = self._q.shape[-2], self._band
        return [slice(start, min(start + size, length)) for start in range(0, length, size)]

    def _queries(self, at: Index, band: slice) -> tuple[np.ndarray, bool]:
        """Scaled queries, and whether no score of theirs can be large (Cauchy–Schwarz)."""
        largest = abs(self._factor) * sqrt(self._squares[at][band].max() * self._longest[at])
        return self._q[at][band] * self._factor, largest <= SAFE_SCORE * self._per_nat

    def _scores(
        self, table: np.ndarray, at: Index, tile: Tile, turned: np.ndarray, safe: bool
    ) -> np.ndarray:
        """The scores of a tile; what is hidden is -inf, if that cannot wait (see `_to_powers`)."""
        matrix_product(self._k[at][tile.keys], turned, out=table)
        if tile.allowed is not None and not safe:
            np.copyto(table[tile.begin :], -np.inf, where=~tile.allowed)
        return table

    def _to_powers(self, table: np.ndarray, tile: Tile, shift: np.ndarray | None) -> None:
        """exp of the scores, in place, shifted only where one could be large; 0 where hidden."""
        if shift is not None:
            table -= shift
        self._power(table, out=table)
        if tile.allowed is not None and shift is None:
            table[tile.begin :] *= tile.allowed

    def _shift_of(self, highest: np.ndarray) -> np.ndarray:
        """What is subtracted from rows with these maxima.

        Small rows stay as they are, so that no row's bits depend on what it may not see.
        """
        small = np.abs(highest) <= 1.001 * SAFE_SCORE * self._per_nat
        return np.where(small | np.isneginf(highest), highest.dtype.type(0), highest)


class _Room:
    """Two tiles of one thread, each of `size` bytes, written over again and again.

    Attributes:
        most: keys of a tile.
    """

    def __init__(self, size: int, queries: int, dtype: np.dtype):
        self.most = size // (queries * dtype.itemsize)
        self._first, self._second = np.empty((2, queries * self.most), dtype)

    def table(self, tile: Tile, turned: np.ndarray) -> np.ndarray:
        """Room for (key, query)."""
        return _part(self._first, tile, turned)

    def second(self, tile: Tile, turned: np.ndarray) -> np.ndarray:
        """The same, elsewhere."""
        return _part(self._second, tile, turned)


def _part(room: np.ndarray, tile: Tile, turned: np.ndarray) -> np.ndarray:
    shape = tile.keys.stop - tile.keys.start, turned.shape[1]
    return room[: shape[0] * shape[1]].reshape(shape)
