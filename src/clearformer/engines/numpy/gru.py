"""The cell whose gates are reset and update, with the reset after the product."""

from typing import Any

import numpy as np

from clearformer.engines.bounds import check_reset
from clearformer.engines.numpy.gru_before import gru_before
from clearformer.engines.numpy.linear import sum_of_rows
from clearformer.engines.numpy.unrolled import Unrolled, squash
from clearformer.engines.tape import record_several, value_of


def gru(
    x: Any,
    hidden: Any,
    weight_input: Any,
    weight_hidden: Any,
    bias: Any = None,
    bias_new: Any = None,
    *,
    reset: str = "after",
    lengths: np.ndarray | None = None,
) -> tuple[Any, Any]:
    """h_t = (1 - z) n + z h_{t-1}, with r, z = σ(a) and n = tanh(a_n + r m), m = h_{t-1} U_n + b'.

    a_r and a_z are x_t W + h_{t-1} U + b, a_n is x_t W_n + b_n. With e_t what h_t receives:

        dL/da_n = e_t (1 - z) (1 - n²),   dL/da_z = e_t (h_{t-1} - n) z (1 - z),
        dL/da_r = dL/da_n m r (1 - r),    dL/dm = dL/da_n r.

    All factors of e_t are known beforehand, for all steps at once. e_t z, and the last three times
    Uᵀ, go on to h_{t-1}. The rest is in `unrolled`. For reset="before" see `gru_before`.
    """
    check_reset(reset, bias_new)
    if reset == "before":
        return gru_before(x, hidden, weight_input, weight_hidden, bias, lengths)
    steps = Unrolled(
        3, lengths, x, hidden=hidden,
        weight_input=weight_input, weight_hidden=weight_hidden, bias=bias, bias_new=bias_new,
    )  # fmt: skip
    w, u = value_of(weight_input), value_of(weight_hidden)
    size = len(u)
    gates = steps.x @ w
    if bias is not None:
        gates += value_of(bias)
    states = steps.states(value_of(hidden), gates.dtype)
    inner = np.empty((len(gates), size), gates.dtype)
    _forwards(steps, u, None if bias_new is None else value_of(bias_new), gates, states, inner)

    biased, biased_new = bias is not None, bias_new is not None

    def gradient(
        to_outputs: np.ndarray | None, to_hidden: np.ndarray | None
    ) -> tuple[np.ndarray, ...]:
        incoming = None if to_outputs is None else steps.packed(to_outputs)
        carried = steps.carried(to_hidden, states)
        back = _slopes(gates, states[steps.before], inner)
        flat = back.reshape(
            len(back), 4 * size
        )  # n, r, z, m: three side by side for x, three for h
        to_x, to_states = flat[:, : 3 * size], flat[:, size:]
        update, product = gates[:, size : 2 * size], steps.product(u.T)
        room = steps.room(size, gates.dtype)
        for now, _ in reversed(steps.steps):
            rows, carry = back[now], carried[: now.stop - now.start]
            if incoming is not None:
                carry += incoming[now]
            rows *= carry[:, None]
            carry *= update[now]
            carry += product(to_states[now], room[: len(carry)])
        found = [
            steps.unpacked(to_x @ np.roll(w, size, 1).T),
            steps.first(carried),
            np.roll(steps.x.T @ to_x, -size, 1),
            states[steps.before].T @ to_states,
        ]
        if biased:
            found.append(np.roll(sum_of_rows(to_x), -size))
        if biased_new:
            found.append(sum_of_rows(to_states[:, 2 * size :]))
        return tuple(found)

    inputs = [x, hidden, weight_input, weight_hidden]
    inputs += [row for row in (bias, bias_new) if row is not None]
    results = steps.unpacked(steps.after(states)), steps.last(states)
    outputs, last = record_several("gru", results, inputs, gradient)
    return outputs, last


def _forwards(
    steps: Unrolled,
    u: np.ndarray,
    bias_new: np.ndarray | None,
    gates: np.ndarray,
    states: np.ndarray,
    inner: np.ndarray,
) -> None:
    """Fills in gates (which hold x W + b), states, and m."""
    after, size = steps.after(states), len(u)
    product, room = steps.product(u), steps.room(3 * size, gates.dtype)
    for now, before in steps.steps:
        both, new, state, part = (
            gates[now, : 2 * size], gates[now, 2 * size :], after[now], inner[now],
        )  # fmt: skip
        sums = product(states[before], room[: len(state)])
        both += sums[:, : 2 * size]
        squash(both)
        part[...] = sums[:, 2 * size :]
        if bias_new is not None:
            part += bias_new
        np.multiply(both[:, :size], part, out=state)
        new += state
        np.tanh(new, out=new)
        np.subtract(states[before], new, out=state)
        state *= both[:, size:]
        state += new


def _slopes(gates: np.ndarray, before: np.ndarray, inner: np.ndarray) -> np.ndarray:
    """Of all steps: the factors (position, n r z m, hidden) of e."""
    split = gates.reshape(len(gates), 3, before.shape[1])
    reset, update, new = (split[:, n] for n in range(3))
    back = np.empty((len(gates), 4, split.shape[-1]), gates.dtype)
    to_new, to_reset, to_update, to_inner = (back[:, n] for n in range(4))
    np.subtract(1, update, out=to_update)
    np.multiply(new, new, out=to_new)
    np.subtract(1, to_new, out=to_new)
    to_new *= to_update
    to_update *= update
    to_update *= before - new
    np.multiply(to_new, reset, out=to_inner)
    np.subtract(1, reset, out=to_reset)
    to_reset *= to_inner
    to_reset *= inner
    return back
