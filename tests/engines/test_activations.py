"""The bends: their known values and limits."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from clearformer import ops
from engines.proofs import few_examples
from engines.runners import every_engine

numbers = some.lists(some.floats(-30, 30), min_size=1, max_size=20).map(np.array)


@every_engine
@few_examples
@given(x=numbers)
def test_squared_relu_is_the_square_of_the_positive_part(by, x):
    np.testing.assert_array_equal(by.value(ops.squared_relu, x), np.where(x > 0, x, 0) ** 2)


@every_engine
@few_examples
@given(x=numbers)
def test_silu_is_x_times_its_sigmoid(by, x):
    np.testing.assert_allclose(by.value(ops.silu, x), x / (1 + np.exp(-x)), 1e-12, 1e-14)


@every_engine
@few_examples
@given(x=numbers)
def test_gelu_stays_near_the_share_of_a_normal_distribution(by, x):
    """The form with tanh approximates x Φ(x) to within 5e-4 (Hendrycks and Gimpel, 2016)."""
    from math import erf, sqrt

    exact = np.array([number * (1 + erf(number / sqrt(2))) / 2 for number in x])
    np.testing.assert_allclose(by.value(ops.gelu, x), exact, atol=5e-4)


@every_engine
@few_examples
@given(x=numbers)
@pytest.mark.parametrize("bend", [ops.gelu, ops.silu])
def test_a_bend_and_its_mirror_image_differ_by_x(by, bend, x):
    np.testing.assert_allclose(by.value(bend, x) - by.value(bend, -x), x, 1e-12, 1e-12)


@every_engine
@pytest.mark.parametrize("bend", [ops.gelu, ops.silu, ops.squared_relu])
def test_zero_stays_zero(by, bend):
    np.testing.assert_array_equal(by.value(bend, np.array([0.0, -0.0])), 0)


@every_engine
def test_the_slope_of_squared_relu_is_zero_up_to_zero(by):
    x = np.array([-2.0, -0.0, 0.0, 3.0])
    _, (slope,) = by.gradients(ops.squared_relu, np.ones(4), x)
    np.testing.assert_array_equal(slope, [0, 0, 0, 6])


@every_engine
def test_dropout_keeps_what_is_kept_and_scales_it(by):
    keep = np.array([0, 2.0, 0, 2.0])
    kept = by.value(lambda x: ops.dropout(x, keep), np.arange(4.0))
    np.testing.assert_array_equal(kept, [0, 2, 0, 6])
