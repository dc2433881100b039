"""Attention in tiles that stay in registers, forwards and backwards, in float32.

Each head's keys and values are put in an order in which the tiles read them; then bands of queries
meet blocks of keys. Of the table (query, key) there is never more than one such block. What is
computed is told in `engines.numpy.attention_whole`; powers are of two, see `power`.

Arrays are (sequence, position, head, width). Heads are numbered through, sequence by sequence; how
many of them lie inside a position may differ from array to array.
"""

from math import e, log2
from typing import Any

import numpy as np

from clearformer.engines.numpy.compiled.kernel import kernel, piece
from clearformer.engines.numpy.compiled.tiles import (
    COLUMNS,
    LANES,
    ROWS,
    WIDTH,
    add_product,
    raise_highest,
    write_powers,
    write_scaled,
    write_slopes,
    write_turned,
)

BAND, BLOCK = 96, 192
"""Queries and keys of a block of the table: whole tiles, whichever of them are the rows."""

PIECES = "b38e3f4efa3ff1ac"
"""What `tiles.py` is: numba keeps machine code until this file changes, so it names that one, too.
A test says what belongs here."""

PER_NAT = log2(e)

SAFE = np.float32(30.0 * PER_NAT)
"""`attention_whole.SAFE_SCORE`: scores up to it need no shift. No power overflows, nor any sum."""

LARGE = np.float32(1.001 * SAFE)
"""A highest score from which its row is shifted: one that would be safe alone is not, by whatever
others are beside it."""


@kernel("attention")
def forwards(
    q: Any,
    k: Any,
    v: Any,
    factor: Any,
    causal: Any,
    heads: Any,
    bands: Any,
    mixed: Any,
    inverse: Any,
    shift: Any,
) -> None:
    """O = P V, and 1 / r and the shift of each row, for some heads and bands.

    Args:
        q: the queries.
        k: the keys.
        v: the values.
        factor: of scores that are exponents of two.
        causal: query i sees the keys 0 … i only.
        heads: the first, and the one behind the last.
        bands: the first, and how many further on the next is.
        mixed: O, as `v`, with queries.
        inverse: 1 / r (head, query).
        shift: what was subtracted from scores (head, query).
    """
    queries, keys, width, broad = q.shape[1], k.shape[1], q.shape[3], _whole(v.shape[3], COLUMNS)
    across = np.zeros(_whole(keys, COLUMNS) * width, np.float32)
    along = np.zeros(keys * broad, np.float32)
    rows, table = np.zeros(BAND * width, np.float32), np.zeros(BAND * WIDTH, np.float32)
    found, sums = np.zeros(BAND * broad, np.float32), np.zeros(BAND * LANES, np.float32)
    less = np.zeros(BAND, np.float32)
    for head in range(heads[0], heads[1]):
        longest = _largest_square(k.ravel(), _place(k, head, 0), _apart(k), width, keys)
        _across(k, head, across)
        _along(v, head, along)
        for begin in range(bands[0] * BAND, queries, bands[1] * BAND):
            count = min(BAND, queries - begin)
            last = min(keys, begin + count) if causal else keys
            _scaled(q, head, begin, count, factor, rows, width)
            block = begin, count, 0, last, keys
            if longest * _largest_square(rows, 0, width, width, count) <= SAFE * SAFE:
                less[:] = 0
            else:  # or something is no number
                _shifts(block, causal, rows, width, across, sums, less)
            shift[head, begin : begin + count] = less[:count]
            sums[:] = 0
            found[: _whole(count, ROWS) * broad] = 0
            for first in range(0, last, BLOCK):
                block = begin, count, first, min(BLOCK, last - first), keys
                _powers(block, causal, rows, width, across, width, less, table, sums)
                _add_to_queries(block, causal, table, along, broad, found)
            _divide(found, broad, sums, inverse[head, begin : begin + count])
            _write(found, broad, np.float32(1), mixed, head, begin, count)


@kernel("attention")
def backwards(
    q: Any,
    k: Any,
    v: Any,
    factor: Any,
    causal: Any,
    heads: Any,
    mixed: Any,
    inverse: Any,
    shift: Any,
    grad: Any,
    to_q: Any,
    to_k: Any,
    to_v: Any,
) -> None:
    """dL/dQ, dL/dK and dL/dV for some heads.

    Args:
        q: as forwards; so `k`, `v`, `factor`, `causal`, `heads`, `mixed`, `inverse`, `shift`.
        k: the keys.
        v: the values.
        factor: of the scores.
        causal: the rule.
        heads: which.
        mixed: O.
        inverse: 1 / r.
        shift: of the scores.
        grad: dL/dO.
        to_q: the results.
        to_k: the same.
        to_v: the same.
    """
    queries, keys, width, value = q.shape[1], k.shape[1], q.shape[3], v.shape[3]
    wide, broad, tall = _whole(width, COLUMNS), _whole(value, COLUMNS), _whole(keys, ROWS)
    k_across = np.zeros(_whole(keys, COLUMNS) * width, np.float32)
    v_across = np.zeros(_whole(keys, COLUMNS) * value, np.float32)
    k_along = np.zeros(keys * wide, np.float32)
    k_found, v_found = np.zeros(tall * wide, np.float32), np.zeros(tall * broad, np.float32)
    rows, q_found = np.zeros(BAND * wide, np.float32), np.zeros(BAND * wide, np.float32)
    share, overlap = np.zeros(BAND * broad, np.float32), np.zeros(BAND, np.float32)
    table, slopes = np.zeros(BAND * WIDTH, np.float32), np.zeros(BAND * WIDTH, np.float32)
    sums, less = np.zeros(BAND * LANES, np.float32), np.zeros(BAND, np.float32)
    for head in range(heads[0], heads[1]):
        _across(k, head, k_across)
        _across(v, head, v_across)
        _along(k, head, k_along)
        k_found[:] = 0
        v_found[:] = 0
        for begin in range(0, queries, BAND):
            count = min(BAND, queries - begin)
            seen = min(keys, begin + _whole(count, ROWS)) if causal else keys  # whole tiles of keys
            _scaled(q, head, begin, count, factor, rows, wide)
            _scaled(grad, head, begin, count, np.float32(1), share, broad)
            _share(share, broad, mixed, head, begin, inverse[head, begin : begin + count], overlap)
            less[:count] = shift[head, begin : begin + count]
            q_found[: _whole(count, ROWS) * wide] = 0
            for first in range(0, seen, BLOCK):
                block = begin, count, first, min(BLOCK, seen - first), keys
                _powers(block, causal, rows, wide, k_across, width, less, table, sums)
                _slopes(block, causal, share, broad, v_across, value, table, overlap, slopes)
                _add_to_queries(block, causal, slopes, k_along, wide, q_found)
                _add_to_keys(block, causal, slopes, rows, wide, k_found)
                _add_to_keys(block, causal, table, share, broad, v_found)
            _write(q_found, wide, factor / np.float32(PER_NAT), to_q, head, begin, count)
        _write(k_found, wide, np.float32(1 / PER_NAT), to_k, head, 0, keys)
        _write(v_found, broad, np.float32(1), to_v, head, 0, keys)


@piece
def _powers(
    block: Any,
    causal: Any,
    rows: Any,
    wide: Any,
    across: Any,
    width: Any,
    shift: Any,
    table: Any,
    sums: Any,
) -> None:
    """The table of a block of powers, from queries and keys.

    Args:
        block: the first query and how many, the first key and how many, and how many in all.
        causal: what is hidden by the rule in all rows of a tile is left as it was.
        rows: the queries, `wide` numbers apart.
        wide: see there.
        across: the keys.
        width: numbers of each.
        shift: what is subtracted from the scores of a query.
        table: the result.
        sums: of its rows so far, as vectors; they are not looked at backwards.
    """
    begin, count, first, many, keys = block
    more = 1 if causal else 0
    for j in range(0, many, COLUMNS):
        for i in range(0, count, ROWS):
            seen = _seen(causal, begin + i, first + j, keys)
            if seen + ROWS > 1:
                key, at = (first + j) * width, i * WIDTH + j
                write_powers(
                    rows, i * wide, wide, across, key, width, seen, more,
                    shift, i, table, at, sums, i * LANES,
                )  # fmt: skip


@piece
def _shifts(
    block: Any, causal: Any, rows: Any, width: Any, across: Any, highest: Any, shift: Any
) -> None:
    """The highest score of each row, or 0 where that is small; as `_powers`, of all its keys."""
    begin, count, _, many, keys = block
    more = 1 if causal else 0
    highest[:] = -np.inf
    for j in range(0, many, COLUMNS):
        for i in range(0, count, ROWS):
            seen = _seen(causal, begin + i, j, keys)
            if seen + ROWS > 1:
                at, key, best = i * width, j * width, i * LANES
                raise_highest(rows, at, width, across, key, width, seen, more, highest, best)
    for i in range(count):
        largest = np.float32(-np.inf)
        for lane in range(LANES):
            largest = max(largest, highest[i * LANES + lane])
        shift[i] = largest if abs(largest) > LARGE and largest != -np.inf else np.float32(0)


@piece
def _largest_square(x: Any, first: Any, apart: Any, width: Any, count: Any) -> Any:
    """The largest |x|² of some rows; where a number is none, every score is none as it is."""
    largest = np.float32(0)
    for i in range(count):
        total = np.float32(0)
        for j in range(width):
            total += x[first + i * apart + j] * x[first + i * apart + j]
        largest = max(largest, total)
    return largest


@piece
def _seen(causal: Any, query: Any, key: Any, keys: Any) -> Any:
    """Columns of a tile that begins there of which its first row sees something."""
    return query + 1 - key if causal else keys - key


@piece
def _slopes(
    block: Any,
    causal: Any,
    share: Any,
    broad: Any,
    across: Any,
    width: Any,
    table: Any,
    overlap: Any,
    slopes: Any,
) -> None:
    """dL/dS of a block, from what queries receive, values, and the powers; as `_powers`."""
    begin, count, first, many, _ = block
    for j in range(0, many, COLUMNS):
        for i in range(0, count, ROWS):
            if not causal or begin + i + ROWS > first + j:
                at = i * WIDTH + j
                value = (first + j) * width
                write_slopes(
                    share, i * broad, broad, across, value, width, table, slopes, at, overlap, i
                )


@piece
def _add_to_queries(block: Any, causal: Any, table: Any, along: Any, wide: Any, found: Any) -> None:
    """Adds a block of a table, times keys or values, to what was found for its queries."""
    begin, count, first, many, keys = block
    for j in range(0, wide, COLUMNS):
        for i in range(0, count, ROWS):
            reach = min(many, begin + i + ROWS - first) if causal else many
            if reach > 0:
                at, here = i * WIDTH, j * keys + first * COLUMNS
                add_product(
                    table, at, WIDTH, 1, along, here, COLUMNS, reach, found, i * wide + j, wide
                )


@piece
def _add_to_keys(block: Any, causal: Any, table: Any, rows: Any, wide: Any, found: Any) -> None:
    """Adds a block of a table on its side, times its queries, to what was found for its keys."""
    begin, count, first, many, _ = block
    for i in range(0, many, ROWS):
        skip = max(0, first + i - begin) if causal else 0  # whole tiles, as all of these are
        if skip < count:
            for j in range(0, wide, COLUMNS):
                at, here, there = skip * WIDTH + i, skip * wide + j, (first + i) * wide + j
                add_product(table, at, 1, WIDTH, rows, here, wide, count - skip, found, there, wide)


@piece
def _divide(found: Any, wide: Any, sums: Any, inverse: Any) -> None:
    """Rows by their sums, which are vectors still."""
    for i in range(len(inverse)):
        total = np.float32(0)
        for lane in range(LANES):
            total += sums[i * LANES + lane]
        inverse[i] = np.float32(1) / total if total != 0 else np.float32(0)
        _scale(found, i * wide, inverse[i], found, i * wide, wide)


@piece
def _share(
    share: Any, wide: Any, mixed: Any, head: Any, begin: Any, inverse: Any, overlap: Any
) -> None:
    """g / r in place of g, and g · O / r, of each query."""
    flat, apart, first = mixed.ravel(), _apart(mixed), _place(mixed, head, begin)
    for i in range(len(inverse)):
        total = np.float32(0)
        for j in range(mixed.shape[3]):
            total += share[i * wide + j] * flat[first + i * apart + j]
        overlap[i] = total * inverse[i]
        _scale(share, i * wide, inverse[i], share, i * wide, wide)


@piece
def _across(x: Any, head: Any, out: Any) -> None:
    """Positions as columns: COLUMNS of them together, index by index."""
    rows, width, apart, flat = x.shape[1], x.shape[3], _apart(x), x.ravel()
    for begin in range(0, rows, LANES):
        first, at = _place(x, head, begin), begin // COLUMNS * COLUMNS * width + begin % COLUMNS
        whole = width // LANES * LANES if begin + LANES <= rows else 0
        for j in range(0, whole, LANES):
            write_turned(flat, first + j, apart, out, at + j * COLUMNS)
        for i in range(min(LANES, rows - begin)):
            for j in range(whole, width):
                out[at + j * COLUMNS + i] = flat[first + i * apart + j]


@piece
def _along(x: Any, head: Any, out: Any) -> None:
    """COLUMNS numbers of each position, position by position, then the next ones."""
    rows, width, apart, flat = x.shape[1], x.shape[3], _apart(x), x.ravel()
    for j in range(0, width, COLUMNS):
        first, count = _place(x, head, 0) + j, min(COLUMNS, width - j)
        for i in range(rows):
            _scale(flat, first + i * apart, np.float32(1), out, j * rows + i * COLUMNS, count)


@piece
def _scaled(x: Any, head: Any, begin: Any, count: Any, factor: Any, out: Any, wide: Any) -> None:
    """Positions times a factor, `wide` numbers apart."""
    flat, apart, first = x.ravel(), _apart(x), _place(x, head, begin)
    for i in range(count):
        _scale(flat, first + i * apart, factor, out, i * wide, x.shape[3])


@piece
def _write(found: Any, wide: Any, factor: Any, out: Any, head: Any, begin: Any, count: Any) -> None:
    """The other way round."""
    flat, apart, first = out.ravel(), _apart(out), _place(out, head, begin)
    for i in range(count):
        _scale(found, i * wide, factor, flat, first + i * apart, out.shape[3])


@piece
def _scale(x: Any, x_at: Any, factor: Any, out: Any, at: Any, count: Any) -> None:
    """Numbers times a factor."""
    whole = count // LANES * LANES
    for j in range(0, whole, LANES):
        write_scaled(x, x_at + j, factor, out, at + j)
    for j in range(whole, count):
        out[at + j] = x[x_at + j] * factor


@piece
def _whole(number: Any, each: Any) -> Any:
    """The next multiple."""
    return -(-number // each) * each


@piece
def _place(x: Any, head: Any, position: Any) -> Any:
    """Where the numbers of a head at a position begin."""
    sequence, inside = head // x.shape[2], head % x.shape[2]
    return ((sequence * x.shape[1] + position) * x.shape[2] + inside) * x.shape[3]


@piece
def _apart(x: Any) -> Any:
    """From there to the same head at the next position."""
    return x.shape[2] * x.shape[3]
