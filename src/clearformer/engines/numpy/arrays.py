"""Ways in and out: NumPy arrays are this engine's tensors, so most cost nothing."""

from typing import Any

import numpy as np

from clearformer.engines.tape import value_of


def to_array(x: Any) -> np.ndarray:
    """The numbers of a tensor, recorded or not, without its tape."""
    return value_of(x)


def from_array(array: np.ndarray, like: Any) -> np.ndarray:
    """The array in the floating-point type of `like`; whole numbers and truth values stay."""
    return array.astype(like.dtype, copy=False) if array.dtype.kind == "f" else array


def empty(shape: tuple[int, ...], like: Any) -> np.ndarray:
    """An array of the type of `like`, of whatever numbers were there."""
    return np.empty(shape, like.dtype)
