"""The recurrent layers: each as one operation, and as the steps that this operation takes."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from clearformer import ops
from clearformer.models.part import Part
from clearformer.models.recurrent.listening import listened
from clearformer.models.tap import Tap, silent
from clearformer.tensor import Float, Tensor, number_type

Say = Callable[[str, Any], Any]
"""Tells of one stage (batch, hidden) of one step, and gives back what the step goes on with."""

Lengths = np.ndarray | None
"""How many positions of each row are there."""

States = Sequence[Any]
"""Hidden state, and of an LSTM the cell, each (batch, hidden); nothing: zeros."""


NARROW = 400
"""Width of an LSTM from which the rows of a batch are split over threads, too; processes always
split them. By rows, two threads took 2.4 times as long as PyTorch at 128, 1.8 at 256 and 1.2 at
512: see docs/log.md."""


@dataclass(frozen=True)
class RecurrentLayer(Part, ABC):
    """A cell that reads a sequence from left to right, with the same matrices at each step."""

    weight_input: Float[Tensor, "input gates_hidden"]
    weight_hidden: Float[Tensor, "hidden gates_hidden"]
    bias: Float[Tensor, " gates_hidden"]

    states: ClassVar[int] = 1
    """How many states it hands on."""

    def __call__(
        self,
        x: Float[Tensor, "batch seq input"],
        before: States = (),
        tap: Tap = silent,
        lengths: Lengths = None,
    ) -> tuple[Float[Tensor, "batch seq hidden"], tuple[Any, ...]]:
        """The hidden state at each position, and what is handed on to the next sequence.

        Args:
            x: what comes in.
            before: what an earlier call has handed on; zeros where there was none.
            tap: hears gates and states; then the steps are made one by one. It cannot be told of
                rows that end early.
            lengths: how many positions of each row are there; None for all.
        """
        first = tuple(before) or (self._zeros(x),) * self.states
        outputs, *after = self.fused(x, first, lengths)
        if tap is silent or lengths is not None:
            return outputs, tuple(after)
        return listened(self, x, first, (outputs, tuple(after)), tap)

    @abstractmethod
    def fused(self, x: Any, before: States, lengths: Lengths = None) -> tuple[Any, ...]:
        """All steps as one operation."""

    @abstractmethod
    def step(self, x: Any, before: States, say: Say) -> tuple[Any, ...]:
        """One step of (batch, input), with every intermediate told; of a layer in arrays."""

    def _sums(self, x: Any, hidden: Any) -> Any:
        """X_t W + h_{t-1} U + b."""
        return ops.linear(x, self.weight_input, self.bias) + ops.linear(hidden, self.weight_hidden)

    def _zeros(self, x: Any) -> np.ndarray:
        return np.zeros((x.shape[0], self.weight_hidden.shape[0]), number_type(x))


@dataclass(frozen=True, repr=False)
class RNNLayer(RecurrentLayer):
    """h_t = tanh(x_t W + h_{t-1} U + b) (Elman, 1990)."""

    def fused(self, x: Any, before: States, lengths: Lengths = None) -> tuple[Any, ...]:
        """All steps as one operation."""
        weights = self.weight_input, self.weight_hidden, self.bias
        return ops.rnn(x, before[0], *weights, lengths=lengths)

    def step(self, x: Any, before: States, say: Say) -> tuple[Any, ...]:
        """One step."""
        return (say("hidden", ops.tanh(self._sums(x, before[0]))),)


@dataclass(frozen=True, repr=False)
class LSTMLayer(RecurrentLayer):
    """c_t = f c_{t-1} + i g, h_t = o tanh(c_t) (Hochreiter and Schmidhuber, 1997)."""

    states: ClassVar[int] = 2

    @property
    def in_one_piece(self) -> bool:
        """Where it is narrow: threads that each make short steps wait for the interpreter."""
        return bool(self.weight_hidden.shape[0] < NARROW)

    def fused(self, x: Any, before: States, lengths: Lengths = None) -> tuple[Any, ...]:
        """All steps as one operation."""
        hidden, cell = before
        weights = self.weight_input, self.weight_hidden, self.bias
        return ops.lstm(x, hidden, cell, *weights, lengths=lengths)

    def step(self, x: Any, before: States, say: Say) -> tuple[Any, ...]:
        """One step."""
        hidden, cell = before
        let_in, forget, new, show = _apart(self._sums(x, hidden), 4)
        let_in = say("input_gate", ops.sigmoid(let_in))
        forget = say("forget_gate", ops.sigmoid(forget))
        new = say("candidate", ops.tanh(new))
        cell = say("cell", forget * cell + let_in * new)
        show = say("output_gate", ops.sigmoid(show))
        return say("hidden", show * ops.tanh(cell)), cell


@dataclass(frozen=True, repr=False)
class GRULayer(RecurrentLayer):
    """h_t = (1 - z) n + z h_{t-1}, with the reset after the product, as in PyTorch."""

    bias_new: Float[Tensor, " hidden"]
    """b', inside the reset."""

    def fused(self, x: Any, before: States, lengths: Lengths = None) -> tuple[Any, ...]:
        """All steps as one operation."""
        weights = self.weight_input, self.weight_hidden, self.bias, self.bias_new
        return ops.gru(x, before[0], *weights, lengths=lengths)

    def step(self, x: Any, before: States, say: Say) -> tuple[Any, ...]:
        """One step."""
        (hidden,) = before
        of_input = _apart(ops.linear(x, self.weight_input, self.bias), 3)
        of_state = _apart(ops.linear(hidden, self.weight_hidden), 3)
        reset = say("reset_gate", ops.sigmoid(of_input[0] + of_state[0]))
        update = say("update_gate", ops.sigmoid(of_input[1] + of_state[1]))
        kept = reset * (of_state[2] + self.bias_new)
        new = say("candidate", ops.tanh(of_input[2] + kept))
        return (say("hidden", (1 - update) * new + update * hidden),)


@dataclass(frozen=True, repr=False)
class ResetFirstGRULayer(RecurrentLayer):
    """The same with the reset before the product (Cho et al., 2014, equations 5 to 8)."""

    def fused(self, x: Any, before: States, lengths: Lengths = None) -> tuple[Any, ...]:
        """All steps as one operation."""
        weights = self.weight_input, self.weight_hidden, self.bias
        return ops.gru(x, before[0], *weights, reset="before", lengths=lengths)

    def step(self, x: Any, before: States, say: Say) -> tuple[Any, ...]:
        """One step."""
        (hidden,) = before
        of_input = _apart(ops.linear(x, self.weight_input, self.bias), 3)
        u_reset, u_update, u_new = _apart(self.weight_hidden, 3)
        reset = say("reset_gate", ops.sigmoid(of_input[0] + ops.linear(hidden, u_reset)))
        update = say("update_gate", ops.sigmoid(of_input[1] + ops.linear(hidden, u_update)))
        new = say("candidate", ops.tanh(of_input[2] + ops.linear(reset * hidden, u_new)))
        return (say("hidden", (1 - update) * new + update * hidden),)


def _apart(x: Any, gates: int) -> list[Any]:
    """The columns of each gate."""
    return np.split(x, gates, -1)
