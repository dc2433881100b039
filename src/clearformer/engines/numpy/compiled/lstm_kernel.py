"""All steps of an LSTM in one call, forwards and backwards, in float32.

Other threads run meanwhile: each may scan its own rows of a batch.
"""

from typing import Any

import numpy as np

from clearformer.engines.numpy.compiled.kernel import kernel, piece


@kernel("LSTMs")
def forwards(steps: Any, u: Any, gates: Any, states: Any, cells: Any, bends: Any) -> None:
    """See `engines.numpy.lstm`; `gates` holds x W + b and becomes i, f, g, o.

    Args:
        steps: (step, 3): the first packed row, the one behind the last, the state before the first.
        u: (hidden, 4 hidden).
        gates: (position, 4 hidden).
        states: (batch + position, hidden), the initial ones in their places; so the cells.
        cells: as the states.
        bends: (position, hidden): tanh(c).
    """
    size, batch = len(u), len(states) - len(gates)
    sums = np.empty((batch, 4 * size), np.float32)  # rows of one step, always in the same place
    for step in range(len(steps)):
        begin, end, before = steps[step]
        count = end - begin
        sums[:count] = gates[begin:end]
        _add_products(sums, states, before, u, count)
        for n in range(count):
            here, after = begin + n, batch + begin + n
            _step(sums[n], cells[before + n], gates[here], cells[after], bends[here], states[after])


@piece
def _step(sums: Any, old: Any, gates: Any, cell: Any, bend: Any, state: Any) -> None:
    size = len(cell)
    to_in, to_forget, to_new, to_show = _quarters(sums)
    let_in, forget, new, show = _quarters(gates)
    for j in range(size):
        i, f, g, o = _gate(to_in[j]), _gate(to_forget[j]), _tanh(to_new[j]), _gate(to_show[j])
        c = f * old[j] + i * g
        t = _tanh(c)
        let_in[j], forget[j], new[j], show[j] = i, f, g, o
        cell[j], bend[j], state[j] = c, t, o * t


@piece
def _quarters(row: Any) -> Any:
    """What belongs to i, f, g and o."""
    size = len(row) // 4
    return row[:size], row[size : 2 * size], row[2 * size : 3 * size], row[3 * size :]


@kernel("LSTMs")
def backwards(
    steps: Any,
    u: Any,
    gates: Any,
    cells: Any,
    bends: Any,
    incoming: Any,
    carried: Any,
    left: Any,
    back: Any,
) -> None:
    """The gradients of all gates before they were bent, into `back` (position, 4 hidden).

    Args:
        steps: as forwards; so `u`, `gates`, `cells`, `bends`.
        u: the matrix.
        gates: i, f, g, o.
        cells: those before and after each step.
        bends: tanh(c).
        incoming: what each output receives (position, hidden); without rows: nothing.
        carried: what the last states receive (batch, hidden); becomes that of the first.
        left: the same of the cells.
        back: the result.
    """
    for step in range(len(steps) - 1, -1, -1):
        begin, end, before = steps[step]
        for n in range(end - begin):
            here = begin + n
            if len(incoming):
                _add_term(carried[n], np.float32(1), incoming[here])
            _step_back(carried[n], left[n], gates[here], cells[before + n], bends[here], back[here])
        _products_across(carried, back, begin, u, end - begin)


@piece
def _step_back(to_state: Any, to_cell: Any, gates: Any, old: Any, bend: Any, back: Any) -> None:
    one = np.float32(1)
    let_in, forget, new, show = _quarters(gates)
    to_in, to_forget, to_new, to_show = _quarters(back)
    for j in range(len(old)):
        i, f, g, o = let_in[j], forget[j], new[j], show[j]
        e, t = to_state[j], bend[j]
        s = to_cell[j] + e * o * (one - t * t)
        to_in[j] = s * g * i * (one - i)
        to_forget[j] = s * old[j] * f * (one - f)
        to_new[j] = s * i * (one - g * g)
        to_show[j] = e * t * o * (one - o)
        to_cell[j] = s * f


BLOCK = 32_768
"""Numbers of a weight that all rows are multiplied with before the next: they stay near by."""


@piece
def _add_products(out: Any, rows: Any, at: int, weight: Any, count: int) -> None:
    """Adds rows @ weight to `out`, for `count` rows from `at` on."""
    tall = max(4, BLOCK // weight.shape[1] // 4 * 4)
    for k in range(0, len(weight), tall):
        part, n = weight[k : k + tall], 0
        while n < count:
            together = _together(count - n)
            x = rows[at + n, k : k + tall]
            if together == 1:
                _add_one(out[n], x, part)
            else:
                y = rows[at + n + 1, k : k + tall]
                if together == 2:
                    _add_two(out[n], out[n + 1], x, y, part)
                else:
                    z = rows[at + n + 2, k : k + tall]
                    _add_three(out[n], out[n + 1], out[n + 2], x, y, z, part)
            n += together


@piece
def _together(rows: int) -> int:
    """How many of so many rows come next: three, and never one alone that need not be."""
    return min(rows, 2 if rows == 4 else 3)


@piece
def _add_three(to_x: Any, to_y: Any, to_z: Any, x: Any, y: Any, z: Any, weight: Any) -> None:
    """A number of the result is read and written once for four of its terms."""
    even = len(weight) - len(weight) % 4
    for k in range(0, even, 4):
        w0, w1, w2, w3 = weight[k], weight[k + 1], weight[k + 2], weight[k + 3]
        x0, x1, x2, x3 = x[k], x[k + 1], x[k + 2], x[k + 3]
        y0, y1, y2, y3 = y[k], y[k + 1], y[k + 2], y[k + 3]
        z0, z1, z2, z3 = z[k], z[k + 1], z[k + 2], z[k + 3]
        for j in range(len(to_x)):
            v0, v1, v2, v3 = w0[j], w1[j], w2[j], w3[j]
            to_x[j] += x0 * v0 + x1 * v1 + x2 * v2 + x3 * v3
            to_y[j] += y0 * v0 + y1 * v1 + y2 * v2 + y3 * v3
            to_z[j] += z0 * v0 + z1 * v1 + z2 * v2 + z3 * v3
    for k in range(even, len(weight)):
        _add_term(to_x, x[k], weight[k])
        _add_term(to_y, y[k], weight[k])
        _add_term(to_z, z[k], weight[k])


@piece
def _add_two(to_x: Any, to_y: Any, x: Any, y: Any, weight: Any) -> None:
    even = len(weight) - len(weight) % 4
    for k in range(0, even, 4):
        w0, w1, w2, w3 = weight[k], weight[k + 1], weight[k + 2], weight[k + 3]
        x0, x1, x2, x3 = x[k], x[k + 1], x[k + 2], x[k + 3]
        y0, y1, y2, y3 = y[k], y[k + 1], y[k + 2], y[k + 3]
        for j in range(len(to_x)):
            v0, v1, v2, v3 = w0[j], w1[j], w2[j], w3[j]
            to_x[j] += x0 * v0 + x1 * v1 + x2 * v2 + x3 * v3
            to_y[j] += y0 * v0 + y1 * v1 + y2 * v2 + y3 * v3
    for k in range(even, len(weight)):
        _add_term(to_x, x[k], weight[k])
        _add_term(to_y, y[k], weight[k])


@piece
def _add_one(to_x: Any, x: Any, weight: Any) -> None:
    even = len(weight) - len(weight) % 4
    for k in range(0, even, 4):
        w0, w1, w2, w3 = weight[k], weight[k + 1], weight[k + 2], weight[k + 3]
        x0, x1, x2, x3 = x[k], x[k + 1], x[k + 2], x[k + 3]
        for j in range(len(to_x)):
            to_x[j] += x0 * w0[j] + x1 * w1[j] + x2 * w2[j] + x3 * w3[j]
    for k in range(even, len(weight)):
        _add_term(to_x, x[k], weight[k])


@piece
def _add_term(to_x: Any, x: Any, row: Any) -> None:
    for j in range(len(to_x)):
        to_x[j] += x * row[j]


@piece
def _products_across(out: Any, rows: Any, at: int, weight: Any, count: int) -> None:
    """Writes rows @ weightᵀ to `out`, for `count` rows from `at` on: each number a row by a row."""
    tall = max(4, BLOCK // weight.shape[1] // 4 * 4)
    for begin in range(0, len(weight), tall):
        end, n = min(begin + tall, len(weight)), 0
        while n < count:
            together, k = _together(count - n), begin
            if together == 3:
                while k + 4 <= end:
                    _three_by_four(out[n : n + 3], rows[at + n : at + n + 3], weight, k)
                    k += 4
            elif together == 2:
                while k + 4 <= end:
                    _two_by_four(out[n : n + 2], rows[at + n : at + n + 2], weight, k)
                    k += 4
            for m in range(n, n + together):
                for left in range(k, end):
                    out[m, left] = _dot(rows[at + m], weight[left])
            n += together


@piece
def _three_by_four(out: Any, rows: Any, weight: Any, k: int) -> None:
    x, y, z = rows[0], rows[1], rows[2]
    w0, w1, w2, w3 = weight[k], weight[k + 1], weight[k + 2], weight[k + 3]
    x0 = x1 = x2 = x3 = y0 = y1 = y2 = y3 = z0 = z1 = z2 = z3 = np.float32(0)
    for j in range(len(x)):
        v0, v1, v2, v3 = w0[j], w1[j], w2[j], w3[j]
        a, b, c = x[j], y[j], z[j]
        x0 += a * v0
        x1 += a * v1
        x2 += a * v2
        x3 += a * v3
        y0 += b * v0
        y1 += b * v1
        y2 += b * v2
        y3 += b * v3
        z0 += c * v0
        z1 += c * v1
        z2 += c * v2
        z3 += c * v3
    out[0, k], out[0, k + 1], out[0, k + 2], out[0, k + 3] = x0, x1, x2, x3
    out[1, k], out[1, k + 1], out[1, k + 2], out[1, k + 3] = y0, y1, y2, y3
    out[2, k], out[2, k + 1], out[2, k + 2], out[2, k + 3] = z0, z1, z2, z3


@piece
def _two_by_four(out: Any, rows: Any, weight: Any, k: int) -> None:
    x, y = rows[0], rows[1]
    w0, w1, w2, w3 = weight[k], weight[k + 1], weight[k + 2], weight[k + 3]
    x0 = x1 = x2 = x3 = y0 = y1 = y2 = y3 = np.float32(0)
    for j in range(len(x)):
        v0, v1, v2, v3 = w0[j], w1[j], w2[j], w3[j]
        a, b = x[j], y[j]
        x0 += a * v0
        x1 += a * v1
        x2 += a * v2
        x3 += a * v3
        y0 += b * v0
        y1 += b * v1
        y2 += b * v2
        y3 += b * v3
    out[0, k], out[0, k + 1], out[0, k + 2], out[0, k + 3] = x0, x1, x2, x3
    out[1, k], out[1, k + 1], out[1, k + 2], out[1, k + 3] = y0, y1, y2, y3


@piece
def _dot(x: Any, y: Any) -> Any:
    total = np.float32(0)
    for j in range(len(x)):
        total += x[j] * y[j]
    return total


@piece
def _gate(a: Any) -> Any:
    """σ(a) = (1 + tanh(a/2)) / 2: no number overflows."""
    half = np.float32(0.5)
    return half + half * _tanh(half * a)


FLAT = np.float32(8.3)
"""From here on tanh is 1 in float32, to half of its last place."""

A1, A2, A3 = np.float32(11 / 75), np.float32(5.2173913e-3), np.float32(6.6252588e-5)
A4, A5, A6 = np.float32(3.2286836e-07), np.float32(5.1797064e-10), np.float32(1.2648856e-13)
B1, B2, B3 = np.float32(0.48), np.float32(3.1884058e-2), np.float32(6.6252588e-4)
B4, B5, B6 = np.float32(5.2304675e-06), np.float32(1.5193805e-08), np.float32(1.1510459e-11)
"""Of the powers of x² above and below: the fraction cut at 25, written as one quotient."""


@piece
def _tanh(a: Any) -> Any:
    """Lambert's continued fraction x / (1 + x²/(3 + x²/(5 + …))), cut at 25 (Lambert, 1768).

    As a quotient of two polynomials it is computed for many numbers at once, which the tanh of the
    system's library is not. It is 3e-7 from the true value at most, in value and in proportion.
    """
    x = FLAT if a > FLAT else (-FLAT if a < -FLAT else a)  # what is no number stays none
    y, one = x * x, np.float32(1)
    above = one + y * (A1 + y * (A2 + y * (A3 + y * (A4 + y * (A5 + y * A6)))))
    below = one + y * (B1 + y * (B2 + y * (B3 + y * (B4 + y * (B5 + y * B6)))))
    return x * above / below
