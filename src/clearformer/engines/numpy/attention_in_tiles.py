"""Attention tile by tile: long sequences in memory that grows with the length, not its square.

A band of queries meets the keys a block at a time; each tile of the table is formed, used and
written over, and tiles that nobody may see are left out. Backwards the tiles are formed again.
`attention_whole` is the same computation and says what is computed; a test holds the two equal.

Tiles lie on their side, (key, query): so every product takes its factors as they are in memory.
(Milakov and Gimelshein, "Online normalizer calculation for softmax", 2018; Dao, "FlashAttention-2",
2023.)
"""

from collections.abc import Callable
from math import prod, sqrt

import numpy as np

from clearformer.engines.numpy.attention_whole import SAFE_SCORE, heads_inside
from clearformer.engines.numpy.power import quickest_power
from clearformer.engines.numpy.products import matrix_product
from clearformer.engines.numpy.sight import Heads, Sight, Tile
from clearformer.engines.tape import Gradient
from clearformer.engines.threads import share_out, small_products_pay, threads_allowed

BAND, WIDE_BAND, WIDE_FROM = 128, 256, 2048
"""Queries of a tile: few, because the causal rule hides half of the last keys; more from so many
on, which make better use of the keys that are read. Forwards this pays only where products do not
go in small pieces, but OpenBLAS puts the keys in an order of its own for every band."""

TILE = 1024 * 1024
"""Bytes of a tile forwards, of one head or of several: fewer calls, of which each may wait for the
interpreter's lock. Larger ones do not stay near the processor."""

BACK_TILE, BACK_HEADS = 256 * 1024, 4
"""Bytes of one head's tile backwards, where there are two, and heads that go together there."""

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
    if q.ndim == k.ndim == v.ndim == 2:  # one head
        work = _Attention(q[None], k[None], v[None], mask, causal, factor)
        mixed = work.forwards()
        return mixed[0], lambda grad: tuple(x[0] for x in work.backwards(grad[None], mixed))
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
        self._inverse = np.empty((*lead, q.shape[-2]), q.dtype)
        self._shift = np.zeros_like(self._inverse)
        self._is_long = q.shape[-2] >= WIDE_FROM
        together = -(-prod(lead) // threads_allowed()) if self._sight.is_shared else 1
        self._together = max(1, together)

    def forwards(self) -> np.ndarray:
        """O."""
        shape = self._q.shape[-2], self._v.shape[-1]
        mixed = heads_inside(self._lead, *shape, self._q.dtype)

        def begin() -> Callable[[tuple[Heads, slice]], None]:
            room = _Room(most, size, self._q.dtype)
            return lambda job: self._mix(room, *job, mixed[job[0]])

        size = WIDE_BAND if self._is_long and not small_products_pay() else BAND
        most = _keys_of(TILE, size, self._q.dtype)
        jobs = [
            (at, band)
            for band in reversed(self._bands(size))  # with the causal rule, the longest first
            for at in self._heads(most // self._sight.end(band))
        ]
        share_out(begin, jobs)
        return mixed

    def backwards(self, grad: np.ndarray, mixed: np.ndarray) -> tuple[np.ndarray, ...]:
        """dL/dQ, dL/dK and dL/dV."""
        results = tuple(
            heads_inside(self._lead, x.shape[-2], x.shape[-1], x.dtype)
            for x in (self._q, self._k, self._v)
        )
        size = WIDE_BAND if self._is_long else BAND
        most = _keys_of(BACK_TILE, size, self._q.dtype)

        def begin() -> Callable[[Heads], None]:
            room, second = (_Room(most, size, self._q.dtype, BACK_HEADS) for _ in range(2))
            return lambda at: self._back(
                room, second, at, size, grad[at], mixed[at], *(x[at] for x in results)
            )

        share_out(begin, self._heads(BACK_HEADS))
        return results

    def _heads(self, together: int) -> list[Heads]:
        """All heads, so many at once as see the same, and as leave something for each thread.

        How many go together changes no bit: no head's keys are cut by it.
        """
        *others, heads = self._lead
        size = max(1, min(together, self._together))
        return [
            (*index, slice(start, min(start + size, heads)))
            for index in np.ndindex(*others)
            for start in range(0, heads, size)
        ]

    def _mix(self, room: "_Room", at: Heads, band: slice, mixed: np.ndarray) -> None:
        """O for a band of queries of some heads."""
        scaled, safe = self._queries(at, band)
        turned = np.ascontiguousarray(scaled.swapaxes(-1, -2))
        v, kind = self._v[at], turned.dtype
        total, shift = np.zeros((2, len(turned), turned.shape[-1]), kind)
        highest = np.full_like(total, -np.inf)
        mix: np.ndarray | None = None
        for tile in self._sight.tiles(at, band, room.most):
            table = self._scores(room.of(tile, turned), at, tile, turned, safe)
            if not safe:
                np.maximum(highest, table.max(-2), out=highest)
                before, shift = shift, self._shift_of(highest)
                shrink = self._power(np.minimum(before - shift, 0))  # 1 where nothing was seen
                total *= shrink
                if mix is not None:
                    mix *= shrink[..., None]
            self._to_powers(table, tile, None if safe else shift)
            total += np.ones(table.shape[-2], kind) @ table
            part = matrix_product(table.swapaxes(-1, -2), v[:, tile.keys])
            mix = part if mix is None else np.add(mix, part, out=mix)
        np.divide(1, total, out=total, where=total != 0)  # a row with nothing allowed stays 0
        if mix is None:
            mixed[:, band] = 0
        else:
            np.multiply(mix, total[..., None], out=mixed[:, band])
        self._inverse[at][:, band], self._shift[at][:, band] = total, shift

    def _back(
        self,
        room: "_Room",
        second: "_Room",
        at: Heads,
        size: int,
        grad: np.ndarray,
        mixed: np.ndarray,
        to_query: np.ndarray,
        to_key: np.ndarray,
        to_value: np.ndarray,
    ) -> None:
        """The gradients of some heads; those of keys and values grow from band to band."""
        k, v = self._k[at], self._v[at]
        to_key[...], to_value[...] = 0, 0
        for band in self._bands(size):
            scaled, safe = self._queries(at, band)
            inverse = self._inverse[at][:, band]
            shift = None if safe else self._shift[at][:, band]
            share = grad[:, band] * inverse[..., None]
            turned = np.ascontiguousarray(scaled.swapaxes(-1, -2))
            share_turned = np.ascontiguousarray(share.swapaxes(-1, -2))
            overlap = np.vecdot(grad[:, band], mixed[:, band])
            overlap *= inverse
            slope = np.zeros_like(scaled)
            for tile in self._sight.tiles(at, band, room.most):
                powers = self._scores(room.of(tile, turned), at, tile, turned, safe)
                self._to_powers(powers, tile, shift)
                to_value[:, tile.keys] += matrix_product(powers, share)
                to_scores = matrix_product(
                    v[:, tile.keys], share_turned, out=second.of(tile, turned)
                )
                to_scores -= overlap[:, None]
                to_scores *= powers
                to_key[:, tile.keys] += matrix_product(to_scores, scaled)
                slope += matrix_product(to_scores.swapaxes(-1, -2), k[:, tile.keys])
            np.multiply(slope, self._factor / self._per_nat, out=to_query[:, band])
        to_key /= self._per_nat

    def _bands(self, size: int) -> list[slice]:
        """All queries."""
        length = self._q.shape[-2]
        return [slice(start, min(start + size, length)) for start in range(0, length, size)]

    def _queries(self, at: Heads, band: slice) -> tuple[np.ndarray, bool]:
        """Scaled queries, and whether no score of theirs can be large (Cauchy–Schwarz)."""
        product = (self._squares[at][:, band].max(-1) * self._longest[at]).max()
        largest = abs(self._factor) * sqrt(product)
        return self._q[at][:, band] * self._factor, largest <= SAFE_SCORE * self._per_nat

    def _scores(
        self, table: np.ndarray, at: Heads, tile: Tile, turned: np.ndarray, safe: bool
    ) -> np.ndarray:
        """The scores of a tile; what is hidden is -inf, if that cannot wait (see `_to_powers`)."""
        matrix_product(self._k[at][:, tile.keys], turned, out=table)
        if tile.allowed is not None and not safe:
            np.copyto(table[:, tile.begin :], -np.inf, where=~tile.allowed)
        return table

    def _to_powers(self, table: np.ndarray, tile: Tile, shift: np.ndarray | None) -> None:
        """exp of the scores, in place, shifted only where one could be large; 0 where hidden."""
        if shift is not None:
            table -= shift[:, None]
        self._power(table, out=table)
        if tile.allowed is not None and shift is None:
            table[:, tile.begin :] *= tile.allowed

    def _shift_of(self, highest: np.ndarray) -> np.ndarray:
        """What is subtracted from rows with these maxima.

        Small rows stay as they are, so that no row's bits depend on what it may not see.
        """
        small = np.abs(highest) <= 1.001 * SAFE_SCORE * self._per_nat
        return np.where(small | np.isneginf(highest), highest.dtype.type(0), highest)


class _Room:
    """Room of one thread for a table (head, key, query), written over again and again.

    Attributes:
        most: keys of a tile, where as many heads go together as can.
    """

    def __init__(self, most: int, queries: int, dtype: np.dtype, heads: int = 1):
        self.most = most
        self._numbers = np.empty(heads * queries * most, dtype)

    def of(self, tile: Tile, turned: np.ndarray) -> np.ndarray:
        """As much of it as a tile of these heads and queries needs."""
        heads, _, queries = turned.shape
        shape = heads, tile.keys.stop - tile.keys.start, queries
        return self._numbers[: prod(shape)].reshape(shape)


def _keys_of(size: int, queries: int, dtype: np.dtype) -> int:
    """Of a tile of so many bytes."""
    return size // (queries * dtype.itemsize)
