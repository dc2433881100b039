"""Arguments that hold arrays in lists and dicts: changing each, copying them afresh, comparing."""

import copy
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from clearformer.checking.record import Library


def each_array(value: Any, change: Callable[[np.ndarray], Any]) -> Any:
    """`value` with every array in it, however deep in lists, tuples and dicts, changed."""
    if isinstance(value, np.ndarray):
        return change(value)
    if isinstance(value, Mapping):
        return {key: each_array(each, change) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return type(value)([each_array(each, change) for each in value])
    return value


def arrays_in(value: Any) -> list[np.ndarray]:
    """Every array in `value`, however deep."""
    found: list[np.ndarray] = []
    each_array(value, found.append)
    return found


def single(array: np.ndarray) -> np.ndarray:
    """float64 as float32; anything else as it is."""
    return array.astype(np.float32) if array.dtype == np.float64 else array


def fresh(arguments: Mapping[str, Any], library: Library) -> dict[str, Any]:
    """Deep copies of NumPy arguments, in the library of the answer.

    The order in memory is kept. For PyTorch float64 becomes float32 and whole numbers int64.
    """
    made = each_array(copy.deepcopy(dict(arguments)), _tensor if library == "torch" else _same)
    return dict(made)


def _same(array: np.ndarray) -> np.ndarray:
    return array


def _tensor(array: np.ndarray) -> Any:
    import torch

    if array.dtype == np.float64:
        array = array.astype(np.float32, order="K")
    elif array.dtype.kind in "iu":
        array = array.astype(np.int64, order="K")
    return torch.from_numpy(array)


def as_array(value: Any) -> np.ndarray | None:
    """The values of an array or a tensor, without a copy if possible; None for anything else."""
    if isinstance(value, np.ndarray | np.generic):
        return np.asarray(value)
    if is_tensor(value):
        value = value.detach().cpu()
        if str(value.dtype) == "torch.bfloat16":
            value = value.float()
        return np.asarray(value.resolve_conj().resolve_neg())
    return None


def is_tensor(value: Any) -> bool:
    """Whether `value` is a tensor of PyTorch; asks without importing it."""
    return any(
        each.__module__ == "torch" and each.__name__ == "Tensor" for each in type(value).__mro__
    )


def image(value: Any) -> Any:
    """Something that differs as soon as one byte of `value` differs."""
    array = as_array(value)
    if array is not None:
        return (array.dtype.str, array.shape, array.tobytes())
    if isinstance(value, Mapping):
        return {key: image(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [image(each) for each in value]
    return repr(value)
