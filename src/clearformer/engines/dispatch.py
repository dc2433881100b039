"""Which engine a tensor belongs to, read off its type."""

import sys
from functools import cache
from types import ModuleType
from typing import Any

import numpy as np

from clearformer.engines import numpy as numpy_engine
from clearformer.engines.tape import TapeTensor
from clearformer.errors import ShapeError


def engine_of(*tensors: Any) -> ModuleType:
    """The engine that owns the tensors.

    PyTorch if one of them is a tensor of PyTorch; NumPy for arrays and for tensors on a tape.
    Plain numbers and None go with any engine.

    Raises:
        ShapeError: if one is something else, or none is a tensor.
    """
    for x in tensors:
        kind = type(x)
        if kind is not TapeTensor and kind is not np.ndarray:  # nearly always one of the two
            return _engine_of_others(tensors)
    return numpy_engine


def array_of(x: Any) -> np.ndarray:
    """The numbers of a tensor of any engine as a NumPy array, which may share its memory."""
    found: np.ndarray = engine_of(x).to_array(x)
    return found


def _engine_of_others(tensors: tuple[Any, ...]) -> ModuleType:
    """As `engine_of`, where not all are arrays of NumPy's own or on a tape."""
    # who has not loaded PyTorch has no tensor of it
    torch_tensor = getattr(sys.modules.get("torch"), "Tensor", ())
    of_torch = on_tape = arrays = False
    for x in tensors:
        if isinstance(x, torch_tensor):
            of_torch = True
        elif isinstance(x, TapeTensor):
            on_tape = True
        elif isinstance(x, np.ndarray):
            arrays = True
        elif x is not None and not isinstance(x, int | float):
            raise _stranger(x)
    if of_torch and on_tape:
        raise ShapeError(
            "expected tensors of one engine, got one on a tape (NumPy) and one of PyTorch; "
            "convert one to an array"
        )
    if not (of_torch or on_tape or arrays):
        raise _stranger(tensors[0])
    return _torch_engine() if of_torch else numpy_engine


def _stranger(x: Any) -> ShapeError:
    return ShapeError(
        f"expected a NumPy array, a tensor on a tape or a PyTorch tensor, got "
        f"{type(x).__name__}; wrap lists with numpy.array(...)"
    )


@cache
def _torch_engine() -> ModuleType:
    from clearformer.engines import torch

    return torch
