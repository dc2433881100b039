"""The bends: their known values and limits."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from clearformer import ops
from engines.proofs import few_examples

numbers = some.lists(some.floats(-30, 30), min_size=1, max_size=20).map(np.array)


@few_examples
@given(x=numbers)
def test_squared_relu_is_the_square_of_the_positive_part(x):
    np.testing.assert_array_equal(ops.squared_relu(x), np.where(x > 0, x, 0) ** 2)


@few_examples
@given(x=numbers)
def test_silu_is_x_times_its_sigmoid(x):
    np.testing.assert_allclose(ops.silu(x), x / (1 + np.exp(-x)), 1e-12, 1e-14)


@few_examples
@given(x=numbers)
def test_gelu_stays_near_the_share_of_a_normal_distribution(x):
    """The form with tanh approximates x Φ(x) to within 5e-4 (Hendrycks and Gimpel, 2016)."""
    from math import erf, sqrt

    exact = np.array([number * (1 + erf(number / sqrt(2))) / 2 for number in x])
    np.testing.assert_allclose(ops.gelu(x), exact, atol=5e-4)


@few_examples
@given(x=numbers)
@pytest.mark.parametrize("bend", [ops.gelu, ops.silu])
def test_a_bend_and_its_mirror_image_differ_by_x(bend, x):
    np.testing.assert_allclose(bend(x) - bend(-x), x, 1e-12, 1e-12)


@pytest.mark.parametrize("bend", [ops.gelu, ops.silu, ops.squared_relu])
def test_zero_stays_zero(bend):
    np.testing.assert_array_equal(bend(np.array([0.0, -0.0])), 0)


def test_dropout_keeps_what_is_kept_and_scales_it():
    keep = np.array([0, 2.0, 0, 2.0])
    np.testing.assert_array_equal(ops.dropout(np.arange(4.0), keep), [0, 2, 0, 6])
