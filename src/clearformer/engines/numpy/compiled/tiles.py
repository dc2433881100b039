"""Products of matrices a tile at a time: while a tile is summed up, it is in registers.

A tile of the result has ROWS rows of COLUMNS numbers. For each inner index, numbers of the left
matrix are multiplied with vectors of the right one; only at the end something is done with the
tile, where it is: it is added to memory, or becomes powers of two, or a gradient. So attention
needs no pass of its own over its table. (Goto and van de Geijn, "Anatomy of high-performance matrix
multiplication", 2008; Van Zee and van de Geijn, "BLIS", 2015; Dao, "FlashAttention-2", 2023.)

Matrices are parts of float32 arrays of one axis: where they begin, and how far it is to the next
row and to the next inner index. Nothing looks at bounds: whoever calls has room for whole tiles.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core.errors import TypingError
from numba.core.registry import cpu_target
from numba.extending import intrinsic

Generated = tuple[Any, Callable[..., Any]]

_FEATURES = cpu_target.target_context.codegen().magic_tuple()[-1]

LANES, ROWS = (16, 12) if "+avx512f" in _FEATURES else (8, 6)
"""Numbers of a vector, and rows of a tile: as many as there are registers for."""

VECTORS = 2
"""Of a row of a tile."""

COLUMNS = VECTORS * LANES

WIDTH = 208
"""From row to row of a table of scores: not a power of two, which would want the same few places of
the cache for all rows."""

SERIES = (1.0, 0.6931472, 0.24022646, 0.05550329, 0.00961852, 0.001339986, 0.00015337578)
"""2^f for |f| <= 1/2 as a sum of powers of f, by least squares: wrong by less than 2e-8 of it."""

ROUNDING = 1.5 * 2**23 + 127
"""See `_Code.power_of_two`."""

_NUMBER, _INTEGER, _PLACE = ir.FloatType(), ir.IntType(32), ir.IntType(64)
_NUMBERS, _INTEGERS = ir.VectorType(_NUMBER, LANES), ir.VectorType(_INTEGER, LANES)
_FUSED = ("contract",)
"""A product and a sum may become one instruction. What says so is not given the settings of the
kernel around it, under which x + c - c would be x."""

_AT = types.int64


def _ends(*arguments: Any) -> Any:
    """What an intrinsic takes and gives.

    Raises:
        TypingError: an array is not of float32: its bits would be read as if it were.
    """
    for kind in arguments:
        if isinstance(kind, types.Array) and kind.dtype != types.float32:
            raise TypingError(f"tiles are of float32; got {kind.dtype}")
    return types.void(*arguments)


@intrinsic  # type: ignore[untyped-decorator]
def add_product(
    typing: Any,
    left: Any,
    left_at: Any,
    left_row: Any,
    left_step: Any,
    right: Any,
    right_at: Any,
    right_step: Any,
    inner: Any,
    out: Any,
    out_at: Any,
    out_row: Any,
) -> Generated:
    """Adds A B to a tile of `out`; at least one inner index."""

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        code = _Code(context, builder, signature, given)
        tile = code.product(code.at(0), given[2], given[3], code.at(4), given[6], given[7])
        for (row, column), numbers in zip(_places(), tile, strict=True):
            place = code.in_tile(8, given[10], row, column)
            code.store(builder.fadd(code.load(place), numbers), place)
        return context.get_dummy_value()

    return _ends(left, *[_AT] * 3, right, *[_AT] * 3, out, *[_AT] * 2), generate


@intrinsic  # type: ignore[untyped-decorator]
def write_powers(
    typing: Any,
    left: Any,
    left_at: Any,
    left_row: Any,
    right: Any,
    right_at: Any,
    inner: Any,
    seen: Any,
    more: Any,
    shift: Any,
    shift_at: Any,
    out: Any,
    out_at: Any,
    sums: Any,
    sums_at: Any,
) -> Generated:
    """Writes 2^(A B - shift of the row), where it is seen, else 0; adds rows to vectors of `sums`.

    Of the first row the columns before `seen` are seen, of each further one `more` more. Rows of
    `out` are WIDTH apart, those of `sums` LANES.
    """

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        code = _Code(context, builder, signature, given)
        tile = code.scores(given)
        for (row, column), numbers in zip(_places(), tile, strict=True):
            less = code.spread(builder.load(builder.gep(code.at(8), [_place(row)])))
            power = code.power_of_two(builder.fsub(numbers, less))
            power = code.where_seen(given, row, column, power, 0.0)
            code.store(power, code.in_tile(10, _place(WIDTH), row, column))
            total = code.in_tile(12, _place(LANES), row, 0)
            code.store(builder.fadd(code.load(total), power), total)
        return context.get_dummy_value()

    ends = _ends(left, _AT, _AT, right, *[_AT] * 4, shift, _AT, out, _AT, sums, _AT)
    return ends, generate


@intrinsic  # type: ignore[untyped-decorator]
def raise_highest(
    typing: Any,
    left: Any,
    left_at: Any,
    left_row: Any,
    right: Any,
    right_at: Any,
    inner: Any,
    seen: Any,
    more: Any,
    highest: Any,
    highest_at: Any,
) -> Generated:
    """Raises vectors, LANES apart, to what is seen of A B in each row; as `write_powers`."""

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        code = _Code(context, builder, signature, given)
        tile = code.scores(given)
        for (row, column), numbers in zip(_places(), tile, strict=True):
            scores = code.where_seen(given, row, column, numbers, -np.inf)
            place = code.in_tile(8, _place(LANES), row, 0)
            code.store(code.larger(scores, code.load(place)), place)
        return context.get_dummy_value()

    return _ends(left, _AT, _AT, right, *[_AT] * 4, highest, _AT), generate


@intrinsic  # type: ignore[untyped-decorator]
def write_slopes(
    typing: Any,
    left: Any,
    left_at: Any,
    left_row: Any,
    right: Any,
    right_at: Any,
    inner: Any,
    powers: Any,
    out: Any,
    out_at: Any,
    overlap: Any,
    overlap_at: Any,
) -> Generated:
    """Writes P (A B - overlap of the row), P and the result at the same place, rows WIDTH apart."""

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        code = _Code(context, builder, signature, given)
        table, width = builder.gep(code.data(6), [given[8]]), _place(WIDTH)
        for (row, column), numbers in zip(_places(), code.scores(given), strict=True):
            lost = code.spread(builder.load(builder.gep(code.at(9), [_place(row)])))
            there = code.within(table, width, row, column)
            slope = builder.fmul(code.load(there), builder.fsub(numbers, lost))
            code.store(slope, code.in_tile(7, width, row, column))
        return context.get_dummy_value()

    ends = _ends(left, _AT, _AT, right, _AT, _AT, powers, out, _AT, overlap, _AT)
    return ends, generate


@intrinsic  # type: ignore[untyped-decorator]
def write_scaled(typing: Any, x: Any, x_at: Any, factor: Any, out: Any, out_at: Any) -> Generated:
    """Writes LANES numbers times a factor."""

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        code = _Code(context, builder, signature, given)
        numbers = code.load(builder.gep(code.data(0), [given[1]]))
        code.store(builder.fmul(numbers, code.spread(given[2])), code.at(3))
        return context.get_dummy_value()

    return _ends(x, _AT, types.float32, out, _AT), generate


@intrinsic  # type: ignore[untyped-decorator]
def write_turned(typing: Any, x: Any, x_at: Any, x_row: Any, out: Any, out_at: Any) -> Generated:
    """Writes LANES rows of as many numbers as columns, COLUMNS apart."""

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        code = _Code(context, builder, signature, given)
        begin = builder.gep(code.data(0), [given[1]])
        rows = [code.load(code.within(begin, given[2], row, 0)) for row in range(LANES)]
        for row, numbers in enumerate(code.turned(rows)):
            code.store(numbers, code.in_tile(3, _place(COLUMNS), row, 0))
        return context.get_dummy_value()

    return _ends(x, _AT, _AT, out, _AT), generate


def _places() -> Iterator[tuple[int, int]]:
    """Row and first column of each vector of a tile."""
    return ((row, column) for row in range(ROWS) for column in range(0, COLUMNS, LANES))


def _place(number: int) -> Any:
    return ir.Constant(_PLACE, number)


def _everywhere(kind: Any, number: float | int) -> Any:
    """A vector of one number."""
    return ir.Constant(kind, [ir.Constant(kind.element, number)] * LANES)


def _lanes(numbers: Iterable[int]) -> Any:
    """A vector of these whole numbers."""
    return ir.Constant(_INTEGERS, [ir.Constant(_INTEGER, number) for number in numbers])


class _Code:
    """What the intrinsics have in common: each method writes instructions."""

    def __init__(self, context: Any, builder: Any, signature: Any, given: Sequence[Any]):
        self._context, self._builder = context, builder
        self._kinds, self._given = signature.args, given

    def data(self, argument: int) -> Any:
        """Where an array begins."""
        array = self._context.make_array(self._kinds[argument])
        return array(self._context, self._builder, self._given[argument]).data

    def at(self, argument: int) -> Any:
        """Where a matrix begins: in an array, at the place that is the next argument."""
        return self._builder.gep(self.data(argument), [self._given[argument + 1]])

    def in_tile(self, argument: int, to_next_row: Any, row: int, column: int) -> Any:
        """A vector of a tile that begins where the matrix does."""
        return self.within(self.at(argument), to_next_row, row, column)

    def within(self, begin: Any, to_next_row: Any, row: int, column: int) -> Any:
        """The same, from a place in memory."""
        b = self._builder
        return b.gep(begin, [b.add(b.mul(_place(row), to_next_row), _place(column))])

    def load(self, place: Any) -> Any:
        """A vector."""
        b = self._builder
        return b.load(b.bitcast(place, _NUMBERS.as_pointer()), align=4)

    def store(self, numbers: Any, place: Any) -> None:
        """Writes a vector."""
        b = self._builder
        b.store(numbers, b.bitcast(place, _NUMBERS.as_pointer()), align=4)

    def spread(self, number: Any, kind: Any = _NUMBERS) -> Any:
        """The same number in all lanes."""
        b, none = self._builder, ir.Constant(kind, ir.Undefined)
        first = b.insert_element(none, number, ir.Constant(_INTEGER, 0))
        return b.shuffle_vector(first, none, _everywhere(_INTEGERS, 0))

    def product(
        self, left: Any, row: Any, step: Any, right: Any, right_step: Any, inner: Any
    ) -> list[Any]:
        """The vectors of a tile of A B, row after row: a loop over the inner index."""
        b, before = self._builder, self._builder.block
        loop, after = b.append_basic_block("inner"), b.append_basic_block("summed")
        b.branch(loop)
        b.position_at_end(loop)
        index = b.phi(_PLACE)
        sums = [b.phi(_NUMBERS) for _ in _places()]
        there = b.gep(right, [b.mul(index, right_step)])
        vectors = [self.load(b.gep(there, [_place(LANES * n)])) for n in range(VECTORS)]
        here, added = b.gep(left, [b.mul(index, step)]), []
        for number, (line, column) in enumerate(_places()):
            if column == 0:
                factor = self.spread(b.load(b.gep(here, [b.mul(_place(line), row)])))
            product = b.fmul(factor, vectors[column // LANES], flags=_FUSED)
            added.append(b.fadd(product, sums[number], flags=_FUSED))
        following = b.add(index, _place(1))
        for phi, first, next_one in zip(
            [index, *sums],
            [_place(0), *[_everywhere(_NUMBERS, 0.0)] * len(sums)],
            [following, *added],
            strict=True,
        ):
            phi.add_incoming(first, before)
            phi.add_incoming(next_one, loop)
        b.cbranch(b.icmp_signed("<", following, inner), loop, after)
        b.position_at_end(after)
        return added

    def turned(self, rows: list[Any]) -> list[Any]:
        """Columns as rows: blocks that lie across from each other change places, larger ones next.

        The first half of a pair keeps what is before `apart` in each block, and takes that of the
        other; so the second half with what is behind.
        """
        b, apart = self._builder, 1
        while apart < LANES:
            first = [lane if lane & apart == 0 else LANES + lane - apart for lane in range(LANES)]
            second = [lane + apart if lane & apart == 0 else LANES + lane for lane in range(LANES)]
            pairs = [(row, row + apart) for row in range(LANES) if row & apart == 0]
            for one, other in pairs:
                upper, lower = rows[one], rows[other]
                rows[one] = b.shuffle_vector(upper, lower, _lanes(first))
                rows[other] = b.shuffle_vector(upper, lower, _lanes(second))
            apart *= 2
        return rows

    def scores(self, given: Sequence[Any]) -> list[Any]:
        """The product whose factors are the first six arguments."""
        return self.product(self.at(0), given[2], _place(1), self.at(3), _place(COLUMNS), given[5])

    def larger(self, one: Any, other: Any) -> Any:
        """Of each two numbers; the other, where one is none."""
        return self._builder.select(self._builder.fcmp_ordered(">", one, other), one, other)

    def power_of_two(self, x: Any) -> Any:
        """2^x for x < 128: x = n + f, of which 2^f is a sum, and 2^n a number with n as exponent.

        A number plus 1.5 · 2²³ is rounded to a whole one, which stands in its last bits; with 127
        more these are what stands for n in an exponent. Below 2⁻¹²⁶ there is 0; what is no number
        gives none.
        """
        b, large, least = self._builder, *(_everywhere(_NUMBERS, n) for n in (ROUNDING, -127.0))
        x = self.larger(least, x)
        shifted = b.fadd(x, large, flags=_FUSED)
        rest = b.fsub(x, b.fsub(shifted, large, flags=_FUSED), flags=_FUSED)
        power = _everywhere(_NUMBERS, float(np.float32(SERIES[-1])))
        for number in reversed(SERIES[:-1]):
            term = b.fmul(power, rest, flags=_FUSED)
            power = b.fadd(term, _everywhere(_NUMBERS, float(np.float32(number))), flags=_FUSED)
        exponent = b.shl(b.bitcast(shifted, _INTEGERS), _everywhere(_INTEGERS, 23))
        return b.fmul(power, b.bitcast(exponent, _NUMBERS))

    def where_seen(
        self, given: Sequence[Any], row: int, column: int, numbers: Any, hidden: float
    ) -> Any:
        """A vector of a tile, with `hidden` where it is not seen: see `write_powers`."""
        b = self._builder
        until = b.trunc(b.add(given[6], b.mul(_place(row), given[7])), _INTEGER)
        columns = _lanes(range(column, column + LANES))
        seen = b.icmp_signed("<", columns, self.spread(until, _INTEGERS))
        return b.select(seen, numbers, _everywhere(_NUMBERS, hidden))
