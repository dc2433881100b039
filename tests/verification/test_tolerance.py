"""The measure of an error."""

import numpy as np
import pytest

from clearformer.verification.tolerance import FAR, GRADIENT, NARROW, VALUE, Tolerance

PYTORCH = {"float32": (1.3e-6, 1e-5), "bfloat16": (1.6e-2, 1e-5), "float16": (1e-3, 1e-5)}
"""rtol and atol of `torch.testing.assert_close`, from its documentation."""


@pytest.mark.parametrize("dtype", PYTORCH)
def test_the_tolerances_are_those_of_pytorch(dtype, rng):
    """A number agrees exactly if |found - expected| ≤ atol + rtol |expected|."""
    relative, absolute = PYTORCH[dtype]
    expected = rng.normal(size=1000) * 10.0 ** rng.integers(-8, 8, 1000)
    allowed = absolute + relative * np.abs(expected)
    for tolerance in (VALUE[dtype], GRADIENT[dtype]):
        for factor, agrees in ((0.999, True), (1.001, False)):
            found = expected + factor * allowed * rng.choice([-1, 1], 1000)
            errors = [
                tolerance.error(np.array([mine]), np.array([wanted]))
                for mine, wanted in zip(found, expected, strict=True)
            ]
            assert {error <= tolerance.bound for error in errors} == {agrees}


def test_in_float64_a_trillionth_is_allowed_and_for_gradients_a_hundred_of_them():
    one = np.ones(1)
    assert VALUE["float64"].error(one * (1 + 1.9e-12), one) <= VALUE["float64"].bound
    assert VALUE["float64"].error(one * (1 + 2.1e-12), one) > VALUE["float64"].bound
    assert GRADIENT["float64"].bound == 100 * VALUE["float64"].bound


INF, NAN = np.inf, np.nan


@pytest.mark.parametrize(
    ("found", "expected", "error"),
    [
        (INF, INF, 0.0),
        (-INF, -INF, 0.0),
        (NAN, NAN, 0.0),
        (INF, -INF, FAR),
        (NAN, 1.0, FAR),
        (1.0, NAN, FAR),
        (INF, 1.0, FAR),
        (1.0, INF, FAR),
        (NAN, INF, FAR),
        (0.0, -0.0, 0.0),
    ],
)
def test_what_is_no_number_must_be_the_same_at_the_same_place(found, expected, error):
    beside = [1.0, 2.0]
    for tolerance in (Tolerance(1e-3), Tolerance(1e-3, None)):
        assert tolerance.error(np.array([found, *beside]), np.array([expected, *beside])) == error


def test_the_worst_number_counts():
    expected = np.zeros(3)
    assert Tolerance(1.0).error(np.array([0.1, -0.7, 0.3]), expected) == 0.7
    assert Tolerance(1.0).error(np.zeros((0, 3)), np.zeros((0, 3))) == 0


def test_another_shape_is_as_wrong_as_can_be():
    assert Tolerance(1.0).error(np.zeros((2, 1)), np.zeros((1, 2))) == FAR
    assert Tolerance(1.0).error(np.zeros(1), np.zeros(())) == FAR


def test_without_a_floor_the_error_is_the_difference():
    assert Tolerance(1.0, None).error(np.array([1000.5]), np.array([1000.0])) == 0.5


def test_a_movement_is_added_to_what_an_error_is_held_against():
    found, expected = np.array([1.0, 3.0]), np.array([0.0, 1.0])
    assert Tolerance(1.0, 1.0).error(found, expected) == 1.0
    assert Tolerance(1.0, 1.0).error(found, expected, np.array([1.0, 2.0])) == 0.5


def test_bounds_of_types_of_16_bits_are_a_few_roundings():
    rounding = {"bfloat16": 2.0**-8, "float16": 2.0**-11}
    for dtype, tolerance in NARROW.items():
        assert 2 < tolerance.bound / rounding[dtype] < 5
