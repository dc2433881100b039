"""The cell with a memory beside its state (long short-term memory)."""

from typing import Any

import numpy as np

from clearformer.engines.numpy.linear import sum_of_rows
from clearformer.engines.numpy.unrolled import Unrolled
from clearformer.engines.tape import record_several, value_of


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
    size = len(u)
    gates = steps.x @ w
    if bias is not None:
        gates += value_of(bias)
    states = steps.states(value_of(hidden), gates.dtype)
    cells = steps.states(value_of(cell), gates.dtype)
    bends = np.empty((len(gates), size), gates.dtype)
    _forwards(steps, u, gates, (states, cells, bends))

    biased = bias is not None

    def gradient(
        to_outputs: np.ndarray | None, to_hidden: np.ndarray | None, to_cell: np.ndarray | None
    ) -> tuple[np.ndarray, ...]:
        incoming = None if to_outputs is None else steps.packed(to_outputs)
        carried, kept = steps.carried(to_hidden, states), steps.carried(to_cell, states)
        back, to_bend = _slopes(gates, cells[steps.before], bends)
        forget, product = gates[:, size : 2 * size], steps.product(u.T)
        for now, _ in reversed(steps.steps):
            count = now.stop - now.start
            rows, carry, keep = back[now], carried[:count], kept[:count]
            if incoming is not None:
                carry += incoming[now]
            to_cells = to_bend[now]
            to_cells *= carry
            keep += to_cells
            rows[:, :3] *= keep[:, None]
            rows[:, 3] *= carry
            keep *= forget[now]
            product(rows.reshape(count, 4 * size), carry)
        flat = back.reshape(len(back), 4 * size)
        found = (
            steps.unpacked(flat @ w.T),
            steps.first(carried),
            steps.first(kept),
            steps.x.T @ flat,
            states[steps.before].T @ flat,
        )
        return (*found, sum_of_rows(flat)) if biased else found

    inputs = (x, hidden, cell, weight_input, weight_hidden, *((bias,) if biased else ()))
    results = steps.unpacked(steps.after(states)), steps.last(states), steps.last(cells)
    outputs, last, last_cell = record_several("lstm", results, inputs, gradient)
    return outputs, last, last_cell


def _forwards(
    steps: Unrolled,
    u: np.ndarray,
    gates: np.ndarray,
    rooms: tuple[np.ndarray, np.ndarray, np.ndarray],
) -> None:
    """Fills in gates (which hold x W + b), states, cells, and tanh of the cells."""
    states, cells, bends = rooms
    new_states, new_cells, size = steps.after(states), steps.after(cells), len(u)
    half = np.full(4 * size, 0.5, gates.dtype)
    half[2 * size : 3 * size] = 1  # σ(a) = tanh(a/2)/2 + 1/2, but g = tanh(a)
    shift = np.where(half == 1, 0, half)
    product, room = steps.product(u), steps.room(4 * size, gates.dtype)
    for now, before in steps.steps:
        rows, state, cell, bend = gates[now], new_states[now], new_cells[now], bends[now]
        rows += product(states[before], room[: len(rows)])
        rows *= half
        np.tanh(rows, out=rows)
        rows *= half
        rows += shift
        let_in, forget, new, show = (rows[:, n * size : (n + 1) * size] for n in range(4))
        np.multiply(forget, cells[before], out=cell)
        np.multiply(let_in, new, out=bend)
        cell += bend
        np.tanh(cell, out=bend)
        np.multiply(show, bend, out=state)


def _slopes(
    gates: np.ndarray, cells: np.ndarray, bends: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Of all steps: the factors (position, gate, hidden) of s, s, s and e; and o (1 - tanh²(c))."""
    split = gates.reshape(len(gates), 4, bends.shape[1])
    let_in, _, new, show = (split[:, n] for n in range(4))
    back = 1 - split
    back *= split
    back[:, 0] *= new
    back[:, 1] *= cells
    back[:, 3] *= bends
    to_new = back[:, 2]
    np.multiply(new, new, out=to_new)
    np.subtract(1, to_new, out=to_new)
    to_new *= let_in
    to_bend = bends * bends
    np.subtract(1, to_bend, out=to_bend)
    to_bend *= show
    return back, to_bend
