"""Softmax: shares that add up to one, and nothing where nothing is allowed."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some
from hypothesis.extra.numpy import array_shapes, arrays

from clearformer import ops
from clearformer.engines.dispatch import engine_of
from engines.proofs import check_gradient, few_examples
from engines.runners import every_engine

scores = arrays(
    np.float64, array_shapes(max_dims=3, max_side=4), elements=some.floats(-1e4, 1e4, width=32)
)


@every_engine
@few_examples
@given(x=scores, axis=some.integers(-3, 2))
def test_shares_are_positive_and_add_up_to_one(by, x, axis):
    axis = axis % x.ndim
    shares = by.value(lambda x: ops.softmax(x, axis), x)
    assert (shares >= 0).all()
    np.testing.assert_allclose(shares.sum(axis), 1, 1e-12)


@every_engine
@few_examples
@given(x=scores, constant=some.floats(-100, 100))
def test_a_constant_added_to_all_scores_changes_nothing(by, x, constant):
    moved, still = by.value(ops.softmax, x + constant), by.value(ops.softmax, x)
    np.testing.assert_allclose(moved, still, 1e-9, 1e-11)


@every_engine
def test_equal_scores_give_equal_shares(by):
    shares = by.value(ops.softmax, np.full((2, 4), 7.0))
    np.testing.assert_array_equal(shares, np.full((2, 4), 0.25))


@every_engine
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("axis", [0, -1])
def test_a_row_with_nothing_allowed_gives_zeros_and_gradient_zero(by, axis, dtype, rng):
    x = rng.normal(size=(3, 4)).astype(dtype)
    nothing = (1, slice(None)) if axis == -1 else (slice(None), 1)
    x[nothing] = -np.inf
    value, (gradient,) = by.gradients(
        lambda x: ops.softmax(x, axis), rng.normal(size=x.shape).astype(dtype), x
    )
    np.testing.assert_array_equal(value[nothing], 0)
    np.testing.assert_array_equal(gradient[nothing], 0)
    np.testing.assert_allclose(np.delete(value, 1, 1 + axis).sum(axis), 1, 1e-6)
    assert np.isfinite(gradient).all()


@every_engine
@pytest.mark.parametrize("axis", [0, -1])
def test_gradient_agrees_with_finite_differences_where_some_scores_are_forbidden(by, axis, rng):
    x = rng.normal(size=(3, 4))
    x[0, 1:] = x[1] = x[:, 2] = -np.inf
    check_gradient(lambda x: ops.softmax(x, axis), x, by=by)


@every_engine
def test_masking_before_softmax_leaves_no_share_and_no_gradient_to_the_forbidden(by, rng):
    allowed = rng.random((4, 5)) < 0.5
    allowed[2] = False
    x = rng.normal(size=(4, 5))

    def masked(x):
        return ops.softmax(ops.mask_scores(x, allowed))

    value, (gradient,) = by.gradients(masked, rng.normal(size=x.shape), x)
    assert (value[~allowed] == 0).all()
    assert (gradient[~allowed] == 0).all()
    check_gradient(masked, x, by=by)


@every_engine
def test_what_is_not_a_number_stays_behind_the_mask(by):
    scores = np.array([[1.0, np.nan, 2.0], [np.nan, 3.0, np.nan]])
    allowed = ~np.isnan(scores)
    value, (gradient,) = by.gradients(
        lambda x: ops.softmax(ops.mask_scores(x, allowed)),
        np.array([[1.0, 2, 3], [4, 5, 6]]),
        scores,
    )
    np.testing.assert_allclose(value.sum(-1), 1)
    assert np.isfinite(gradient).all()


@every_engine
def test_whole_numbers_have_shares_too(by):
    shares = by.value(lambda x: engine_of(x).softmax(x), np.array([[1, 1], [2, 2]]))
    np.testing.assert_array_equal(shares, np.full((2, 2), 0.5))
