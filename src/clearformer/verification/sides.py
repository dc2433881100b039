"""The two sides of a comparison: an engine, on a device, with one type of number."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from clearformer.engines.choose import moved
from clearformer.engines.dispatch import array_of, engine_of
from clearformer.engines.tape import Tape
from clearformer.models.part import Part

Function = Callable[..., Any]
"""Of tensors, written with the operations of `clearformer.ops`."""


@dataclass(frozen=True)
class Outcome:
    """What a function of tensors gave on one side, all as arrays of float64."""

    inputs: tuple[np.ndarray, ...]
    """As the side saw them: rounded to its type of number."""
    seed: np.ndarray
    """dL/d(value), drawn at random and rounded too."""
    value: np.ndarray
    gradients: tuple[np.ndarray, ...]
    """dL/d(input), for each input."""


class Side:
    """Runs functions of tensors with an engine, on a device, in a type of number.

    Raises:
        ConfigurationError: the engine or the device is not there.
        TypeError: the device has no such type of number.
    """

    def __init__(self, engine: str, device: str, dtype: str):
        self.engine, self.device, self.dtype = engine, device, dtype
        example = moved(_Example(np.zeros(1, np.float32)), engine, device).tensor
        self.like = (
            example.astype(dtype) if engine == "numpy" else getattr(example, IN_PYTORCH[dtype])()
        )

    @property
    def is_reference(self) -> bool:
        """Whether this is the side that is believed."""
        return self.engine == "numpy" and self.dtype == "float64"

    def tensor(self, array: np.ndarray) -> Any:
        """The array as a tensor of this side."""
        return engine_of(self.like).from_array(array, self.like)

    def run(
        self,
        function: Function,
        arrays: Sequence[np.ndarray],
        seed: np.ndarray | float = 1.0,
    ) -> Outcome:
        """The value of the function, and the gradients of L = Σ seed · value.

        A plain sum would hide mistakes: that of a softmax does not depend on its input.

        Args:
            function: of as many tensors as there are arrays.
            arrays: are rounded to the type of this side first.
            seed: dL/d(value), or how large random numbers for it should be.
        """
        tensors = [self.tensor(np.array(array)) for array in arrays]
        inputs = tuple(wide(x) for x in tensors)
        differentiate = _on_a_tape if self.engine == "numpy" else _by_the_engine
        value, seen, gradients = differentiate(function, tensors, seed)
        return Outcome(inputs, wide(seen), wide(value), tuple(map(wide, gradients)))


@dataclass(frozen=True)
class _Example(Part):
    """A model of one tensor, to be moved as models are."""

    tensor: Any


IN_PYTORCH = {"float64": "double", "float32": "float", "bfloat16": "bfloat16", "float16": "half"}
"""What PyTorch calls the method that changes a tensor's type."""


def reference() -> Side:
    """The side that is believed: the NumPy engine in float64."""
    return Side("numpy", "cpu", "float64")


def wide(x: Any) -> np.ndarray:
    """A tensor of any engine as an array of float64 of its own."""
    return np.array(array_of(x), np.float64)


def _seed(seed: np.ndarray | float, shape: Sequence[int]) -> np.ndarray:
    """The seed itself, or random numbers of that size, the same for the same shape."""
    if isinstance(seed, np.ndarray):
        return seed
    return np.asarray(seed * np.random.default_rng(1).normal(size=tuple(shape)))


def _on_a_tape(
    function: Function, arrays: Sequence[np.ndarray], seed: np.ndarray | float
) -> tuple[Any, Any, list[Any]]:
    tape = Tape()
    leaves = [tape.watch(array) for array in arrays]
    result = function(*leaves)
    seed = _seed(seed, result.shape).astype(result.dtype)
    tape.backward(result, seed)
    return result.data, seed, [tape.gradient(leaf) for leaf in leaves]


def _by_the_engine(
    function: Function, tensors: Sequence[Any], seed: np.ndarray | float
) -> tuple[Any, Any, list[Any]]:
    """For engines whose tensors differentiate themselves."""
    leaves = [x.clone().requires_grad_() for x in tensors]
    result = function(*leaves)
    weights = engine_of(result).from_array(_seed(seed, result.shape), result.detach())
    result.backward(weights)
    return result, weights, [x.new_zeros(x.shape) if x.grad is None else x.grad for x in leaves]
