"""The plain recurrent cell."""

from typing import Any

import numpy as np

from clearformer.engines.numpy.linear import sum_of_rows
from clearformer.engines.numpy.unrolled import Unrolled
from clearformer.engines.tape import record_several, value_of


def rnn(
    x: Any,
    hidden: Any,
    weight_input: Any,
    weight_hidden: Any,
    bias: Any = None,
    *,
    lengths: np.ndarray | None = None,
) -> tuple[Any, Any]:
    """h_t = tanh(a_t) with a_t = x_t W + h_{t-1} U + b.

    With e_t what h_t receives, from its output and from the step after it, and d_t = dL/da_t:
    d_t = e_t (1 - h_t²), and d_t Uᵀ goes on to h_{t-1}. The rest is in `unrolled`.
    """
    steps = Unrolled(
        1, lengths, x,
        hidden=hidden, weight_input=weight_input, weight_hidden=weight_hidden, bias=bias,
    )  # fmt: skip
    w, u = value_of(weight_input), value_of(weight_hidden)
    sums = steps.x @ w
    if bias is not None:
        sums += value_of(bias)
    states = steps.states(value_of(hidden), sums.dtype)
    after, product = steps.after(states), steps.product(u)
    for now, before in steps.steps:
        rows = after[now]
        product(states[before], rows)
        rows += sums[now]
        np.tanh(rows, out=rows)

    biased = bias is not None

    def gradient(
        to_outputs: np.ndarray | None, to_hidden: np.ndarray | None
    ) -> tuple[np.ndarray, ...]:
        back = after * after
        np.subtract(1, back, out=back)
        incoming = None if to_outputs is None else steps.packed(to_outputs)
        carried, product = steps.carried(to_hidden, states), steps.product(u.T)
        for now, _ in reversed(steps.steps):
            rows, carry = back[now], carried[: now.stop - now.start]
            if incoming is not None:
                carry += incoming[now]
            rows *= carry
            product(rows, carry)
        found = (
            steps.unpacked(back @ w.T),
            steps.first(carried),
            steps.x.T @ back,
            states[steps.before].T @ back,
        )
        return (*found, sum_of_rows(back)) if biased else found

    inputs = (x, hidden, weight_input, weight_hidden, *((bias,) if biased else ()))
    results = steps.unpacked(after), steps.last(states)
    outputs, last = record_several("rnn", results, inputs, gradient)
    return outputs, last
