"""How far results move when inputs are rounded."""

import numpy as np

from clearformer import ops
from clearformer.verification.sensitivity import movements
from clearformer.verification.sides import reference


def moved(function, *arrays):
    outcome = reference().run(function, arrays)
    return outcome, movements(function, reference(), outcome)


def test_a_number_moves_as_its_input_does():
    _, (value, gradient) = moved(lambda x: x * 3.0, np.full(5, 2.0))
    np.testing.assert_allclose(value, 6.0, 1e-6)
    assert (gradient > 0).all()  # what comes in is rounded too


def test_terms_that_cancel_each_other_move_the_sum_all_the_same(rng):
    """1000 - 1000 + 0.001: the sum is small, what rounding makes of it is not."""
    ones = np.ones((3, 1))
    terms = np.array([[1000.0, -1000.0, 0.001]])
    outcome, (value, *_) = moved(lambda x: ops.matmul(x, ones), terms)
    assert abs(outcome.value) < 0.002
    assert 500 < value < 5000


def test_small_numbers_beside_large_ones_move_as_the_large_ones():
    x = np.array([1e-9, 3.0, -4.0])
    _, (value, _) = moved(lambda x: x * 1.0, x)
    typical = np.sqrt(np.mean(x**2))
    np.testing.assert_allclose(value, [typical, 3.0, 4.0], 1e-6)


def test_what_is_infinite_does_not_move():
    allowed = np.array([True, False])
    _, (value, gradient) = moved(lambda x: ops.mask_scores(x, allowed), np.ones(2))
    np.testing.assert_allclose(value, [1, 0], 1e-6)
    assert np.isfinite(gradient).all()


def test_nothing_has_no_movement():
    _, (value, gradient) = moved(ops.gelu, np.zeros((0, 3)))
    assert value.shape == gradient.shape == (0, 3)
