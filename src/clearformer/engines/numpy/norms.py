"""Normalisation of each position's vector."""

from typing import Any

import numpy as np

from clearformer.engines.numpy.linear import sum_of_rows
from clearformer.engines.tape import compiled_of, record, value_of


def rms_norm(x: Any, gain: Any = None, epsilon: float = 1e-6) -> Any:
    """y = gain * n with n = x / r and r = sqrt(mean(x²) + epsilon) along the last axis.

    With g = dL/dy and h = g * gain:  dL/dx = (h - n * mean(h * n)) / r,  dL/dgain = sum(g * n).
    """
    if gain is not None and compiled_of((x,)):
        from clearformer.engines.numpy.compiled import rows

        if rows.norms_rows(x, gain):
            return rows.rms_norm(x, gain, epsilon)
    data = value_of(x)
    size = data.shape[-1]
    inverse = inverse_root(data, epsilon)
    normal = data * inverse

    if gain is None:

        def gradient_alone(grad: np.ndarray) -> tuple[np.ndarray]:
            return (through_the_root(grad, normal, inverse),)

        return record("rms_norm", normal, (x,), gradient_alone)

    scale = value_of(gain)

    def gradient(grad: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        back = through_the_root(grad * scale, normal, inverse)
        return back, sum_of_rows((grad * normal).reshape(-1, size))

    return record("rms_norm", normal * scale, (x, gain), gradient)


def layer_norm(x: Any, gain: Any, bias: Any, epsilon: float = 1e-5) -> Any:
    """y = gain * n + bias with n = (x - mean) / sqrt(variance + epsilon) along the last axis.

    With g = dL/dy and h = g * gain:  dL/dx = (h - mean(h) - n * mean(h * n)) / sqrt(...),
    dL/dgain = sum(g * n),  dL/dbias = sum(g).
    """
    data, scale = value_of(x), value_of(gain)
    size = data.shape[-1]
    normal = data - _mean(data)
    normal -= _mean(normal)  # what rounding left of a large mean
    inverse = inverse_root(normal, epsilon)
    normal *= inverse

    def gradient(grad: np.ndarray) -> tuple[np.ndarray, ...]:
        inner = grad * scale
        inner -= _mean(inner)
        rows = grad.reshape(-1, size)
        to_gain = sum_of_rows((grad * normal).reshape(-1, size))
        return through_the_root(inner, normal, inverse), to_gain, sum_of_rows(rows)

    result = normal * scale
    result += value_of(bias)
    return record("layer_norm", result, (x, gain, bias), gradient)


def _mean(x: np.ndarray) -> np.ndarray:
    """The mean of the last axis, as a product: several times quicker than `mean(-1)`."""
    size = x.shape[-1]
    mean: np.ndarray = x @ np.full((size, 1), 1 / size, x.dtype)
    return mean


def inverse_root(x: np.ndarray, epsilon: float) -> np.ndarray:
    """1 / r with r = sqrt(mean(x²) + epsilon) along the last axis, which is kept."""
    inverse: np.ndarray = np.vecdot(x, x)[..., None]
    inverse /= x.shape[-1]
    inverse += epsilon
    np.sqrt(inverse, out=inverse)
    np.reciprocal(inverse, out=inverse)
    return inverse


def through_the_root(inner: np.ndarray, normal: np.ndarray, inverse: np.ndarray) -> np.ndarray:
    """(h - n * mean(h * n)) / r, the part that all norms share."""
    overlap = np.vecdot(inner, normal)[..., None]
    overlap /= inner.shape[-1]
    back = normal * overlap
    np.subtract(inner, back, out=back)
    back *= inverse
    return back
