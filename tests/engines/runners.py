"""One law, every engine: runs a function of tensors by an engine, arrays in and arrays out."""

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest

from clearformer.engines.dispatch import array_of, engine_of
from clearformer.engines.tape import Tape, TapeTensor

Function = Callable[..., Any]
"""Of tensors, written with the operations of `clearformer.ops`."""


class ByNumPy:
    """Gradients come from the tape."""

    def value(self, function: Function, *arrays: np.ndarray) -> np.ndarray:
        """What the function gives where nothing is recorded."""
        result = function(*arrays)
        assert type(result) is np.ndarray, "plain arrays are not recorded"
        return result

    def gradients(
        self, function: Function, weights: np.ndarray, *arrays: np.ndarray
    ) -> tuple[np.ndarray, tuple[np.ndarray, ...]]:
        """The value of the function, and d sum(weights · function) / d(each array)."""
        tape = Tape()
        leaves = [tape.watch(x) for x in arrays]
        result = function(*leaves)
        assert isinstance(result, TapeTensor), "the function did not record anything"
        tape.backward(result, weights)
        return result.data, tuple(tape.gradient(leaf) for leaf in leaves)

    def tensor(self, array: np.ndarray) -> np.ndarray:
        """The array itself."""
        return array


class ByPyTorch:
    """Gradients come from PyTorch; tensors share the memory of the arrays, and so their layout."""

    def value(self, function: Function, *arrays: np.ndarray) -> np.ndarray:
        """What the function gives where nothing is recorded."""
        import torch

        with torch.no_grad():
            return array_of(function(*map(self.tensor, arrays)))

    def gradients(
        self, function: Function, weights: np.ndarray, *arrays: np.ndarray
    ) -> tuple[np.ndarray, tuple[np.ndarray, ...]]:
        """The value of the function, and d sum(weights · function) / d(each array)."""
        leaves = [self.tensor(x).requires_grad_() for x in arrays]
        result = function(*leaves)
        assert result.requires_grad, "the function did not record anything"
        result.backward(self.tensor(weights))
        assert not any(x._version for x in leaves), "an input was written to, or its numbers anew"
        found = [x.new_zeros(x.shape) if x.grad is None else x.grad for x in leaves]
        return array_of(result), tuple(map(array_of, found))

    def tensor(self, array: np.ndarray) -> Any:
        """The array as a tensor of its own type."""
        import torch

        array = np.asarray(array)
        like = torch.empty(0, dtype=getattr(torch, array.dtype.name))
        return engine_of(like).from_array(array, like)


BY_NUMPY, BY_PYTORCH = ByNumPy(), ByPyTorch()

needs_torch = pytest.mark.skipif(
    find_spec("torch") is None, reason="the PyTorch engine needs PyTorch (extra torch)"
)

every_engine = pytest.mark.parametrize(
    "by",
    [pytest.param(BY_NUMPY, id="numpy"), pytest.param(BY_PYTORCH, id="torch", marks=needs_torch)],
)
"""Runs a law once for each engine; `by` is what runs functions."""
