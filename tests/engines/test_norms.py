"""Normalisation: what it makes equal, and rows on which rounding could ruin it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from clearformer import ops
from engines.proofs import check_against_torch, few_examples, weights_like
from engines.runners import ByNumPy, ByPyTorch, every_engine

SIZES = (1, 3, 64, 100)


def plain_layer_norm(x: np.ndarray, epsilon: float = 1e-5) -> np.ndarray:
    """The formula in twice the precision of a float32 `x`, with no gain and no bias."""
    x = x.astype(np.float64)
    return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + epsilon)


def layer_norm_alone(by: ByNumPy | ByPyTorch, x: np.ndarray) -> np.ndarray:
    size, dtype = x.shape[-1], x.dtype
    return by.value(ops.layer_norm, x, np.ones(size, dtype), np.zeros(size, dtype))


@every_engine
@few_examples
@given(size=some.integers(2, 40), seed=some.integers(0, 99), scale=some.floats(0.1, 1e4))
def test_layer_norm_gives_mean_zero_and_variance_one(by, size, seed, scale):
    x = np.random.default_rng(seed).normal(scale, scale, (3, size))
    x[:, 0] += scale  # so that no row is constant
    normal = layer_norm_alone(by, x)
    variance = x.var(-1)
    np.testing.assert_allclose(normal.mean(-1), 0, atol=1e-12)
    np.testing.assert_allclose(normal.var(-1), variance / (variance + 1e-5), 1e-9)


@every_engine
@few_examples
@given(size=some.integers(1, 40), seed=some.integers(0, 99), scale=some.floats(0.1, 1e4))
def test_rms_norm_gives_mean_square_one(by, size, seed, scale):
    x = np.random.default_rng(seed).normal(scale, scale, (3, size))
    square = (x**2).mean(-1)
    np.testing.assert_allclose(
        (by.value(ops.rms_norm, x) ** 2).mean(-1), square / (square + 1e-6), 1e-9
    )


@every_engine
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("constant", [0.0, 1.0, -3.3, 123456.7])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_layer_norm_of_a_constant_row_is_the_bias(by, size, constant, dtype, rng):
    gain, bias = rng.normal(size=(2, size)).astype(dtype)
    x = np.full((2, size), constant, dtype)
    weights = weights_like(x)
    value, gradients = by.gradients(ops.layer_norm, weights, x, gain, bias)
    np.testing.assert_allclose(value, np.tile(bias, (2, 1)), 1e-5, 1e-5)
    np.testing.assert_allclose(gradients[1], 0, atol=1e-5)
    np.testing.assert_allclose(gradients[2], weights.sum(0), 1e-6, 1e-6)
    assert np.isfinite(gradients[0]).all()


@every_engine
@pytest.mark.parametrize("size", SIZES)
def test_rms_norm_of_zeros_is_zero(by, size, torch):
    x, gain = np.zeros((2, size)), np.ones(size)
    weights = weights_like(x)
    value, (to_x, to_gain) = by.gradients(ops.rms_norm, weights, x, gain)
    assert not value.any()
    np.testing.assert_allclose(to_x, weights * 1e3)  # 1/√ε
    assert not to_gain.any()
    check_against_torch(
        ops.rms_norm,
        lambda x, gain: torch.nn.functional.rms_norm(x, (size,), gain, 1e-6),
        x,
        gain,
    )


@every_engine
@pytest.mark.parametrize("size", [3, 64, 100])
@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float32, 1e-4), (np.float64, 1e-8)])
def test_a_large_mean_does_not_drown_a_small_variance(by, size, dtype, tolerance, rng):
    """Mean 1e6, variance 1e-2: the numbers as rounded are what must be normalised exactly."""
    x = rng.normal(1e6, 0.1, (4, size)).astype(dtype)
    x[:, 0] += 0.5  # float32 has steps of 1/16 here
    np.testing.assert_allclose(layer_norm_alone(by, x), plain_layer_norm(x), tolerance, tolerance)


@every_engine
@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float32, 1e-4), (np.float64, 1e-8)])
def test_the_gradient_of_layer_norm_does_not_see_the_mean(by, dtype, tolerance, rng):
    near = (rng.integers(-8, 8, (4, 64)) / 16).astype(dtype)  # exact at 1e6 in float32 too
    gain, bias = rng.normal(size=(2, 64)).astype(dtype)
    weights = weights_like(near)
    _, expected = by.gradients(ops.layer_norm, weights, near, gain, bias)
    _, found = by.gradients(ops.layer_norm, weights, near + dtype(1e6), gain, bias)
    for mine, wanted in zip(found, expected, strict=True):
        np.testing.assert_allclose(mine, wanted, tolerance, tolerance)
