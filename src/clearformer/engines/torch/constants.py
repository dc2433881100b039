"""The one place where arrays cross over to PyTorch: what needs no gradient is made in NumPy.

Ids, targets and masks, position tables, turns and dropout's choices are the same numbers on both
engines for that reason.
"""

from contextlib import nullcontext
from functools import lru_cache
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import Parameter

TYPES = {
    torch.float64: np.float64,
    torch.float32: np.float32,
    torch.float16: np.float16,
}
"""Types that NumPy has too; bfloat16 it lacks."""

PLAIN = (Tensor, Parameter)
"""Tensors that hold numbers, unlike those that only stand for some while a program is traced."""

KEPT = 64
"""Tables that are kept: more than a model has kinds of them at the lengths it meets at once."""


def constant(array: Any, like: Tensor) -> Tensor:
    """The array as a tensor beside `like`: on its device and, if floating-point, of its type.

    Complex numbers get the type that goes with `like`'s, complex64 but for float64. A tensor passes
    unchanged. Tables, arrays that nobody may write to, cross over once and are kept.
    """
    if isinstance(array, Tensor):
        return array
    array = np.asarray(array)
    if type(like) in PLAIN and _is_table(array):
        return _kept(_Table(array), like.dtype, like.device)
    return crossed(array, like.dtype, like.device)


def crossed(array: np.ndarray, dtype: torch.dtype, device: torch.device) -> Tensor:
    """The array as a new tensor; it may share the array's memory if that can be written to."""
    floating = array.dtype.kind == "f" and dtype.is_floating_point
    if floating:
        array = array.astype(TYPES.get(dtype, np.float32), copy=False)
    elif array.dtype.kind == "c":
        array = array.astype(np.complex128 if dtype == torch.float64 else np.complex64, copy=False)
    if not array.flags.writeable or any(step < 0 for step in array.strides):
        array = array.copy()  # PyTorch has no read-only tensors, and no strides below zero
    inference = torch.is_inference_mode_enabled()
    with torch.inference_mode(False) if inference else nullcontext():  # to serve in training too
        tensor = torch.from_numpy(array)
        if device.type != "cpu":
            # without waiting for the device: the array has been read when the call returns
            tensor = tensor.to(device, non_blocking=device.type == "cuda")
        return of_type(tensor, dtype) if floating else tensor


def of_type(x: Tensor, dtype: torch.dtype) -> Tensor:
    """The tensor in that type.

    PyTorch's `to` lets other threads have the interpreter even where nothing is to be done, and
    waits to get it back.
    """
    return x if x.dtype is dtype else x.to(dtype)


def number(value: float, like: Tensor) -> Tensor:
    """A number as a tensor of the type and on the device of `like`, kept.

    Of a plain number PyTorch makes a tensor at each call, as dear as a pass over a small array.
    """
    return _number(value, like.dtype, like.device)


@lru_cache(maxsize=KEPT)
def _number(value: float, dtype: torch.dtype, device: torch.device) -> Tensor:
    return crossed(np.array(value), dtype, device)


class _Table:
    """An array by its place in memory, which stays its own as long as this is kept."""

    __slots__ = ("array", "place")

    def __init__(self, array: np.ndarray):
        self.array = array
        start = array.__array_interface__["data"][0]
        self.place = start, array.shape, array.strides, array.dtype.str

    def __hash__(self) -> int:
        return hash(self.place)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Table) and self.place == other.place


@lru_cache(maxsize=KEPT)
def _kept(table: _Table, dtype: torch.dtype, device: torch.device) -> Tensor:
    return crossed(table.array, dtype, device)


def _is_table(array: np.ndarray) -> bool:
    """Whether nobody may write to the array, nor to what it is a view of."""
    seen: Any = array
    while isinstance(seen, np.ndarray):
        if seen.flags.writeable:
            return False
        if seen.flags.owndata:
            return True
        seen = seen.base
    return False  # memory that is not NumPy's: who knows who writes to it
