"""Recurrent cells, by PyTorch's own fused operations."""

from typing import Any

import numpy as np
import torch
from torch import Tensor

from clearformer.engines.bounds import check_recurrence, check_reset
from clearformer.engines.packing import Packing, packing
from clearformer.engines.torch.arrays import to_array
from clearformer.engines.torch.constants import constant
from clearformer.engines.torch.linear import NARROW


def rnn(
    x: Any,
    hidden: Any,
    weight_input: Any,
    weight_hidden: Any,
    bias: Any = None,
    *,
    lengths: np.ndarray | None = None,
) -> tuple[Tensor, Tensor]:
    """h_t = tanh(x_t W + h_{t-1} U + b)."""
    given = {"weight_input": weight_input, "weight_hidden": weight_hidden, "bias": bias}
    run = _Run(1, lengths, x, {"hidden": hidden}, given)
    outputs, last = run.fused(torch.rnn_tanh, run.biases())
    return outputs, last


def lstm(
    x: Any,
    hidden: Any,
    cell: Any,
    weight_input: Any,
    weight_hidden: Any,
    bias: Any = None,
    *,
    lengths: np.ndarray | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """c_t = f c_{t-1} + i g and h_t = o tanh(c_t)."""
    given = {"weight_input": weight_input, "weight_hidden": weight_hidden, "bias": bias}
    run = _Run(4, lengths, x, {"hidden": hidden, "cell": cell}, given)
    outputs, last, last_cell = run.fused(torch.lstm, run.biases())
    return outputs, last, last_cell


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
) -> tuple[Tensor, Tensor]:
    """h_t = (1 - z) n + z h_{t-1}; with the reset before the product, PyTorch has no kernel."""
    check_reset(reset, bias_new)
    given = {
        "weight_input": weight_input, "weight_hidden": weight_hidden,
        "bias": bias, "bias_new": bias_new,
    }  # fmt: skip
    run = _Run(3, lengths, x, {"hidden": hidden}, given)
    outputs, last = run.step_by_step() if reset == "before" else run.fused(torch.gru, run.biases())
    return outputs, last


class _Run:
    """One call: what it was given, as tensors of one type, the widest; 16 bits become 32.

    A state is a sum over many steps, and sums are kept in float32.
    """

    def __init__(
        self, gates: int, lengths: Any, x: Any, states: dict[str, Any], weights: dict[str, Any]
    ):
        there = {name: one for name, one in (states | weights).items() if one is not None}
        if isinstance(lengths, Tensor):
            lengths = to_array(lengths)
        lengths = None if lengths is None else np.asarray(lengths)
        shapes = {name: tuple(one.shape) for name, one in there.items()}
        check_recurrence(gates, lengths, tuple(x.shape), **shapes)
        like = next(one for one in (x, *there.values()) if isinstance(one, Tensor))
        made = {name: constant(one, like) for name, one in ({"x": x} | there).items()}
        self.result = like.dtype
        for one in made.values():
            self.result = torch.promote_types(self.result, one.dtype)
        inner = torch.float32 if self.result in NARROW else self.result
        self._given = {name: one.to(inner) for name, one in made.items()}
        self._states = [self._given[name] for name in states]
        self.x = self._given["x"]
        self.packing: Packing = packing(x.shape[0], x.shape[1], lengths)

    def biases(self) -> tuple[Tensor, ...]:
        """PyTorch adds one to each product: b to the first, b' to the last third of the other."""
        bias, new = self._given.get("bias"), self._given.get("bias_new")
        if bias is None and new is None:
            return ()
        zeros = self.x.new_zeros(self._given["weight_hidden"].shape[1])
        second = zeros if new is None else torch.cat((zeros[len(new) :], new))
        return zeros if bias is None else bias, second

    def fused(self, kernel: Any, biases: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        """The outputs and last states by one of PyTorch's operations."""
        if not self.packing.total:
            width = self._states[0].shape[1]
            return self._finished(self.x.new_zeros(*self.x.shape[:2], width), self._states)
        weights = (self._given["weight_input"].t(), self._given["weight_hidden"].t(), *biases)
        # one layer, no dropout, one direction
        how = weights, bool(biases), 1, 0.0, torch.is_grad_enabled(), False
        if self.packing.order is None:
            outputs, *last = kernel(self.x, _layered(self._states), *how, True)
            return self._finished(outputs, [state.squeeze(0) for state in last])
        counts = torch.from_numpy(self.packing.counts)
        ordered = [state[self._index(self.packing.order)] for state in self._states]
        begun = [state[: counts[0]] for state in ordered]  # the others have no position at all
        rows, *last = kernel(self._packed(), counts, _layered(begun), *how)
        still = [state[counts[0] :] for state in ordered]
        whole = [torch.cat((new.squeeze(0), old)) for new, old in zip(last, still, strict=True)]
        return self._finished(self._unpacked(rows), [self._back(state) for state in whole])

    def step_by_step(self) -> tuple[Tensor, ...]:
        """A GRU with the reset before the product, as its paper has it."""
        w, u, bias = (
            self._given["weight_input"],
            self._given["weight_hidden"],
            self._given.get("bias"),
        )
        sums = self._packed() @ w if bias is None else torch.addmm(bias, self._packed(), w)
        (state,) = self._states
        width = state.shape[1]
        if self.packing.order is not None:
            state = state[self._index(self.packing.order)]
        u_gates, u_new = u.split((2 * width, width), 1)
        found = [sums[:0, :width]]
        for now, _ in self.packing.slices:
            old, still = state.tensor_split((now.stop - now.start,))
            to_gates, to_new = sums[now].split((2 * width, width), 1)
            reset, update = (to_gates + old @ u_gates).sigmoid().chunk(2, 1)
            new = (to_new + (reset * old) @ u_new).tanh()
            found.append(new + update * (old - new))
            state = torch.cat((found[-1], still)) if len(still) else found[-1]
        return self._finished(self._unpacked(torch.cat(found)), [self._back(state)])

    def _finished(self, outputs: Tensor, states: list[Tensor]) -> tuple[Tensor, ...]:
        return tuple(one.to(self.result) for one in (outputs, *states))

    def _packed(self) -> Tensor:
        """(batch, seq, …) → (position, …)."""
        if self.packing.order is None:
            return self.x.transpose(0, 1).flatten(0, 1)
        return self.x[self._index(self.packing.rows), self._index(self.packing.steps)]

    def _unpacked(self, rows: Tensor) -> Tensor:
        """(position, …) → (batch, seq, …), with 0 where there is nothing."""
        batch, seq = self.x.shape[:2]
        if self.packing.order is None:
            return rows.reshape(seq, batch, rows.shape[1]).transpose(0, 1)
        places = self._index(self.packing.rows), self._index(self.packing.steps)
        return rows.new_zeros(batch, seq, rows.shape[1]).index_put(places, rows)

    def _back(self, state: Tensor) -> Tensor:
        """Rows in order, back in their places."""
        return state if self.packing.order is None else state[self._index(self.packing.back)]

    def _index(self, places: np.ndarray) -> Tensor:
        return constant(places, self.x)


def _layered(states: list[Tensor]) -> Any:
    """States of one layer, as PyTorch's operations take them: one alone, or several in a list."""
    layered = [state.unsqueeze(0) for state in states]
    return layered if len(layered) > 1 else layered[0]
