"""The cell with a memory beside its state (long short-term memory)."""

from typing import Any, NamedTuple

import numpy as np

from clearformer.engines.helpers import Job
from clearformer.engines.numpy.linear import sum_of_rows
from clearformer.engines.numpy.unrolled import Sums, Unrolled
from clearformer.engines.tape import compiled_of, record_several, room_for, value_of


def lstm(
    x: Any,
    hidden: Any,
    cell: Any,
    weight_input: Any,
    weight_hidden: Any,
    bias: Any = None,
    *,
    lengths: np.ndarray | None = None,
) -> tuple[Any, Any, Any]:
    """c_t = f c_{t-1} + i g and h_t = o tanh(c_t), with i, f, o = σ(a) and g = tanh(a).

    All four a_t = x_t W + h_{t-1} U + b. With e_t what h_t receives, from its output and from the
    step after it, c_t receives s_t = e_t o (1 - tanh²(c_t)) + s_{t+1} f_{t+1}, and

        dL/da_i = s_t g i (1 - i),        dL/da_g = s_t i (1 - g²),
        dL/da_f = s_t c_{t-1} f (1 - f),  dL/da_o = e_t tanh(c_t) o (1 - o).

    All factors of s_t and e_t are known beforehand, for all steps at once. The four together times
    Uᵀ go on to h_{t-1}. The rest is in `unrolled`.
    """
    steps = Unrolled(
        4, lengths, x, hidden=hidden, cell=cell,
        weight_input=weight_input, weight_hidden=weight_hidden, bias=bias,
    )  # fmt: skip
    w, u = value_of(weight_input), value_of(weight_hidden)
    biased = bias is not None
    inputs = (x, hidden, cell, weight_input, weight_hidden, *((bias,) if biased else ()))
    first = value_of(hidden), value_of(cell)
    forwards, backwards = _ways(compiled_of(inputs) and steps.is_single(w, u, *first))
    kept = forwards(steps, first, w, u, value_of(bias) if biased else None)
    rooms = room_for(weight_input), room_for(weight_hidden)

    def gradient(*received: np.ndarray | None) -> tuple[np.ndarray, ...]:
        found, to_gates = backwards(steps, kept, (w, u), rooms, received)
        return (*found, sum_of_rows(to_gates)) if biased else found

    _, states, cells, _ = kept
    results = steps.unpacked(steps.after(states)), steps.last(states), steps.last(cells)
    outputs, last, last_cell = record_several("lstm", results, inputs, gradient)
    return outputs, last, last_cell


def _ways(compiled: bool) -> tuple[Any, Any]:
    """Forwards and backwards through all steps; compiled, where that was decided."""
    if not compiled:
        return _forwards, _backwards
    from clearformer.engines.numpy.compiled import lstm as compiled_way

    return compiled_way.forwards, compiled_way.backwards


Rooms = tuple[np.ndarray | None, np.ndarray | None]
"""Where the gradients of W and U are written, if there is a place for them."""

Gradients = tuple[tuple[np.ndarray, ...], np.ndarray]
"""Of x, h_0, c_0, W and U; and dL/da of all gates, (position, 4 hidden)."""


class Kept(NamedTuple):
    """What the way back needs of the way forward, of all steps."""

    gates: np.ndarray
    """i, f, g, o side by side."""
    states: np.ndarray
    cells: np.ndarray
    bends: np.ndarray
    """tanh(c)."""


def _forwards(
    steps: Unrolled,
    first: tuple[np.ndarray, np.ndarray],
    w: np.ndarray,
    u: np.ndarray,
    bias: np.ndarray | None,
) -> Kept:
    """All gates, states and cells. With σ(a) = tanh(a/2)/2 + 1/2 one tanh makes all four gates."""
    size = len(u)
    gates = np.empty((len(steps.x), 4 * size), np.result_type(steps.x, w))
    half = np.full(4 * size, 0.5, gates.dtype)
    half[2 * size : 3 * size] = 1  # g is a tanh itself
    shift, w, u = np.where(half == 1, 0, half), w * half, u * half
    bias = None if bias is None else bias * half

    def sums(rows: slice) -> None:
        part = np.matmul(steps.x[rows], w, out=gates[rows])
        if bias is not None:
            part += bias

    states, cells = (steps.states(one, gates.dtype) for one in first)
    kept = Kept(gates, states, cells, np.empty((len(gates), size), gates.dtype))
    new_states, new_cells, bends = steps.after(states), steps.after(cells), kept.bends
    product, room = steps.product(u), steps.room(4 * size, gates.dtype)
    for now, before in steps.after_sums(sums):
        rows, state, cell, bend = gates[now], new_states[now], new_cells[now], bends[now]
        rows += product(states[before], room[: len(rows)])
        np.tanh(rows, out=rows)
        rows *= half
        rows += shift
        let_in, forget, new, show = (rows[:, n * size : (n + 1) * size] for n in range(4))
        np.multiply(forget, cells[before], out=cell)
        np.multiply(let_in, new, out=bend)
        cell += bend
        np.tanh(cell, out=bend)
        np.multiply(show, bend, out=state)
    return kept


def _backwards(
    steps: Unrolled,
    kept: Kept,
    weights: tuple[np.ndarray, np.ndarray],
    rooms: Rooms,
    received: tuple[np.ndarray | None, ...],
) -> Gradients:
    """The gradients of x, of the initial state and cell, of W and U; and dL/da of all gates."""
    gates, states, cells, bends = kept
    to_outputs, to_hidden, to_cell = received
    (w, u), total = weights, len(gates)
    product_beside = steps.product_beside(u.T)
    back, to_bend = np.empty((total, 4, len(u)), gates.dtype), np.empty_like(bends)
    flat, to_x = back.reshape(total, w.shape[1]), np.empty(steps.x.shape, back.dtype)
    to_w, to_u = (
        Sums(steps.parts, weight.shape, back.dtype, room)
        for weight, room in zip(weights, rooms, strict=True)
    )

    def slopes(rows: slice) -> None:
        before = steps.states_before(cells, rows)
        _slopes(gates[rows], before, bends[rows], back[rows], to_bend[rows])

    def products(rows: slice, part: int) -> tuple[Job, ...]:
        return (
            lambda: np.matmul(flat[rows], w.T, out=to_x[rows]),
            lambda: np.matmul(steps.x[rows].T, flat[rows], out=to_w[part]),
            lambda: np.matmul(steps.states_before(states, rows).T, flat[rows], out=to_u[part]),
        )

    incoming = None if to_outputs is None else steps.packed(to_outputs)
    carried, left = steps.carried(to_hidden, states), steps.carried(to_cell, states)
    forget = gates[:, len(u) : 2 * len(u)]
    product = None
    for now, _ in steps.backwards(slopes, products):
        product = product or product_beside()
        count = now.stop - now.start
        rows, carry, keep = back[now], carried[:count], left[:count]
        if incoming is not None:
            carry += incoming[now]
        to_cells = to_bend[now]
        to_cells *= carry
        keep += to_cells
        rows[:, :3] *= keep[:, None]
        rows[:, 3] *= carry
        keep *= forget[now]
        product(flat[now], carry)
    found = steps.unpacked(to_x), steps.first(carried), steps.first(left)
    return (*found, *steps.both(to_w.total, to_u.total)), flat


def _slopes(
    gates: np.ndarray,
    cells: np.ndarray,
    bends: np.ndarray,
    back: np.ndarray,
    to_bend: np.ndarray,
) -> None:
    """The factors (position, gate, hidden) of s, s, s and e into `back`; o (1 - tanh²(c))."""
    split = gates.reshape(len(gates), 4, bends.shape[1])
    let_in, _, new, show = (split[:, n] for n in range(4))
    np.subtract(1, split, out=back)
    back *= split
    back[:, 0] *= new
    back[:, 1] *= cells
    back[:, 3] *= bends
    to_new = back[:, 2]
    np.multiply(new, new, out=to_new)
    np.subtract(1, to_new, out=to_new)
    to_new *= let_in
    np.multiply(bends, bends, out=to_bend)
    np.subtract(1, to_bend, out=to_bend)
    to_bend *= show
