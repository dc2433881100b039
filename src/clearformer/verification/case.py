"""One case: an operation, the shapes of its operands, and its other arguments."""

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from clearformer import ops
from clearformer.tensor import number_type

Shape = tuple[int, ...]


def public_operations() -> dict[str, Callable[..., Any]]:
    """Every operation of `clearformer.ops`, by name."""
    return {
        name: member
        for name, member in vars(ops).items()
        if inspect.isfunction(member)
        and member.__module__ == ops.__name__
        and not name.startswith("_")
    }


@dataclass(frozen=True)
class Case:
    """An operation, the shapes of its operands by parameter, and its other arguments."""

    operation: str
    operands: dict[str, Shape]
    constants: dict[str, Any] = field(default_factory=dict)
    sizes: dict[str, float] = field(default_factory=dict)
    """How large an operand is: the deviation of its normal distribution, unless it is 1."""
    incoming: float = 1.0
    """How large the gradient is that comes in from behind."""
    results: int = 1
    """How many results the operation has; several are looked at as one."""
    together: Callable[..., Any] = field(default_factory=lambda: joined, repr=False)
    """Makes one tensor of them."""

    def __str__(self) -> str:
        return f"{self.operation}: {self.arguments}"

    @property
    def arguments(self) -> str:
        """The operands with their shapes, and the constants."""
        words = [
            f"{name}{shape}" + (f"·{self.sizes[name]:.3g}" if name in self.sizes else "")
            for name, shape in self.operands.items()
        ]
        for name, x in self.constants.items():
            words.append(f"{name}{x.shape}" if isinstance(x, np.ndarray) else f"{name}={x}")
        return " ".join(words).replace(", ", ",")

    def arrays(self, rng: np.random.Generator, dtype: Any = np.float64) -> list[np.ndarray]:
        """Random operands."""
        return [
            np.asarray(self.sizes.get(name, 1.0) * rng.normal(size=shape), dtype)
            for name, shape in self.operands.items()
        ]

    def ours(self, *arrays: Any) -> Any:
        """The operation of `clearformer.ops` on these operands."""
        return self.run(getattr(ops, self.operation), arrays)

    def run(self, function: Callable[..., Any], tensors: Sequence[Any], **constants: Any) -> Any:
        """`function` of the operands, by name, and the constants (the case's own unless given)."""
        operands = dict(zip(self.operands, tensors, strict=True))
        result = function(**operands, **(self.constants | constants))
        return self.together(*result) if self.results > 1 else result


def joined(outputs: Any, *states: Any) -> Any:
    """What a recurrent operation gives as one tensor: each last state as one position more.

    The outputs (batch seq hidden) and the states (batch hidden) are put into their places by
    products with zeros and ones, which change no number.
    """
    batch, seq, hidden = outputs.shape
    places = np.eye(seq + len(states), dtype=number_type(outputs))
    whole = ops.matmul(places[:, :seq], outputs)
    for place, state in enumerate(states, start=seq):
        row = ops.reshape(state, (batch, 1, hidden))
        whole = whole + ops.matmul(places[:, place : place + 1], row)
    return whole


def stacked(first: Any, rest: Any) -> Any:
    """Two tensors of heads (… head seq width) as one, the heads again in a row.

    As in `joined`, by products with zeros and ones.
    """
    count = first.shape[-3]
    places = np.eye(count + rest.shape[-3], dtype=number_type(first))
    before = ops.matmul(places[:, :count], _flat(first))
    return before + ops.matmul(places[:, count:], _flat(rest))


def _flat(heads: Any) -> Any:
    *lead, count, seq, width = heads.shape
    return ops.reshape(heads, (*lead, count, seq * width))
