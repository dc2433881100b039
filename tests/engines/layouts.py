"""The same numbers, laid out differently in memory."""

from collections.abc import Callable

import numpy as np


def transposed(x: np.ndarray) -> np.ndarray:
    """The first axis varies fastest."""
    return np.asfortranarray(x) if x.ndim else x


def strided(x: np.ndarray) -> np.ndarray:
    """Every second element of an array twice as long along the last axis."""
    if not x.ndim:
        return x
    wide = np.full((*x.shape[:-1], 2 * x.shape[-1]), np.nan, x.dtype)
    wide[..., 1::2] = x
    return wide[..., 1::2]


def backwards(x: np.ndarray) -> np.ndarray:
    """Negative strides along every axis."""
    every = (..., *[slice(None, None, -1)] * x.ndim)
    return x[every].copy()[every]


def windowed(x: np.ndarray) -> np.ndarray:
    """The inside of a larger array: contiguous rows that do not follow each other."""
    inside = (..., *[slice(1, -1)] * x.ndim)
    larger = np.full(tuple(size + 2 for size in x.shape), np.nan, x.dtype)
    larger[inside] = x
    return larger[inside]


LAYOUTS: tuple[Callable[[np.ndarray], np.ndarray], ...] = (
    transposed,
    strided,
    backwards,
    windowed,
)
