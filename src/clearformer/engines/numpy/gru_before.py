"""The cell with gates reset and update as its paper has it, with the reset before the product."""

from typing import Any

import numpy as np

from clearformer.engines.numpy.linear import sum_of_rows
from clearformer.engines.numpy.unrolled import Unrolled, squash
from clearformer.engines.tape import record_several, value_of


def gru_before(
    x: Any,
    hidden: Any,
    weight_input: Any,
    weight_hidden: Any,
    bias: Any,
    lengths: np.ndarray | None,
) -> tuple[Any, Any]:
    """h_t = (1 - z) n + z h_{t-1}, with r, z = σ(a) and n = tanh(a_n), q = r h_{t-1}.

    a_r and a_z are x_t W + h_{t-1} U + b, a_n is x_t W_n + q U_n + b_n: a step needs two products,
    one after the other. With e_t what h_t receives:

        dL/da_n = e_t (1 - z) (1 - n²),        dL/dq = dL/da_n U_nᵀ,
        dL/da_z = e_t (h_{t-1} - n) z (1 - z),  dL/da_r = dL/dq h_{t-1} r (1 - r).

    e_t z, dL/dq r, and dL/da_r and dL/da_z times Uᵀ go on to h_{t-1}. The rest is in `unrolled`.
    """
    steps = Unrolled(
        3, lengths, x,
        hidden=hidden, weight_input=weight_input, weight_hidden=weight_hidden, bias=bias,
    )  # fmt: skip
    w, u = value_of(weight_input), value_of(weight_hidden)
    size = len(u)
    u_gates, u_new = u[:, : 2 * size], u[:, 2 * size :]
    gates = steps.x @ w
    if bias is not None:
        gates += value_of(bias)
    states = steps.states(value_of(hidden), gates.dtype)
    kept = np.empty((len(gates), size), gates.dtype)
    _forwards(steps, (u_gates, u_new), gates, states, kept)

    biased = bias is not None

    def gradient(
        to_outputs: np.ndarray | None, to_hidden: np.ndarray | None
    ) -> tuple[np.ndarray, ...]:
        incoming = None if to_outputs is None else steps.packed(to_outputs)
        carried = steps.carried(to_hidden, states)
        back = _slopes(gates, states[steps.before])
        flat = back.reshape(len(back), 3 * size)
        reset, update = gates[:, :size], gates[:, size : 2 * size]
        to_gates, to_new = steps.product(u_gates.T), steps.product(u_new.T)
        room, more_room = (steps.room(size, gates.dtype) for _ in range(2))
        for now, _ in reversed(steps.steps):
            rows, carry = back[now], carried[: now.stop - now.start]
            if incoming is not None:
                carry += incoming[now]
            rows[:, 1:] *= carry[:, None]
            to_kept = to_new(rows[:, 2], room[: len(carry)])
            rows[:, 0] *= to_kept
            carry *= update[now]
            to_kept *= reset[now]
            carry += to_kept
            carry += to_gates(flat[now, : 2 * size], more_room[: len(carry)])
        to_hidden_weight = np.concatenate(
            (states[steps.before].T @ flat[:, : 2 * size], kept.T @ flat[:, 2 * size :]), 1
        )
        found = (
            steps.unpacked(flat @ w.T),
            steps.first(carried),
            steps.x.T @ flat,
            to_hidden_weight,
        )
        return (*found, sum_of_rows(flat)) if biased else found

    inputs = (x, hidden, weight_input, weight_hidden, *((bias,) if biased else ()))
    results = steps.unpacked(steps.after(states)), steps.last(states)
    outputs, last = record_several("gru", results, inputs, gradient)
    return outputs, last


def _forwards(
    steps: Unrolled,
    weights: tuple[np.ndarray, np.ndarray],
    gates: np.ndarray,
    states: np.ndarray,
    kept: np.ndarray,
) -> None:
    """Fills in gates (which hold x W + b), states, and q."""
    u_gates, u_new = weights
    after, size = steps.after(states), len(u_new)
    to_gates, to_new = steps.product(u_gates), steps.product(u_new)
    room = steps.room(2 * size, gates.dtype)
    for now, before in steps.steps:
        both, new, state = gates[now, : 2 * size], gates[now, 2 * size :], after[now]
        both += to_gates(states[before], room[: len(state)])
        squash(both)
        np.multiply(both[:, :size], states[before], out=kept[now])
        new += to_new(kept[now], state)
        np.tanh(new, out=new)
        np.subtract(states[before], new, out=state)
        state *= both[:, size:]
        state += new


def _slopes(gates: np.ndarray, before: np.ndarray) -> np.ndarray:
    """Of all steps, (position, r z n, hidden): h_{t-1} r (1 - r), and the factors of e."""
    split = gates.reshape(len(gates), 3, before.shape[1])
    update, new = split[:, 1], split[:, 2]
    back = 1 - split
    to_reset, to_update, to_new = (back[:, n] for n in range(3))
    np.multiply(new, new, out=to_new)
    np.subtract(1, to_new, out=to_new)
    to_new *= to_update
    to_update *= update
    to_update *= before - new
    to_reset *= split[:, 0]
    to_reset *= before
    return back
