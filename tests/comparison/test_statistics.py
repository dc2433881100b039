"""Laws of means and intervals, against the printed tables."""

from math import sqrt

import pytest

from clearformer.comparison.statistics import apart, mean_of, share_within, student_t

TABLE = {1: 12.706, 2: 4.303, 3: 3.182, 4: 2.776, 5: 2.571, 9: 2.262, 10: 2.228, 30: 2.042,
         120: 1.980}  # fmt: skip
"""Two-sided 95 % quantiles of Student's t, as every textbook prints them."""


@pytest.mark.parametrize("degrees", TABLE)
def test_students_t_is_that_of_the_tables(degrees):
    assert student_t(degrees) == pytest.approx(TABLE[degrees], abs=5e-4)


@pytest.mark.parametrize("degrees", [1, 2, 3, 4, 7, 8, 50])
def test_the_share_within_is_none_at_zero_and_all_in_the_end(degrees):
    assert share_within(0.0, degrees) == 0
    assert share_within(1e6, degrees) == pytest.approx(1, abs=1e-5)


def test_one_degree_is_the_distribution_of_cauchy():
    assert share_within(1.0, 1) == pytest.approx(0.5)


def test_two_degrees_have_a_closed_form():
    assert share_within(3.0, 2) == pytest.approx(3 / sqrt(11))


def test_an_interval_worked_out_by_hand():
    found = mean_of([2.0, 4.0, 6.0])  # deviation 2, so ± 4.3027 · 2 / √3
    assert (found.mean, found.seeds) == (4.0, 3)
    assert found.high == pytest.approx(4 + 4.30265 * 2 / sqrt(3), abs=1e-4)
    assert found.low == pytest.approx(4 - 4.30265 * 2 / sqrt(3), abs=1e-4)


def test_one_value_tells_of_no_interval():
    found = mean_of([1.5])
    assert (found.mean, found.low, found.high, found.seeds) == (1.5, None, None, 1)


def test_what_draws_nothing_is_its_own_interval():
    found = mean_of([1.5], exact=True)
    assert (found.low, found.high) == (1.5, 1.5)


@pytest.mark.parametrize(
    ("one", "other", "answer"),
    [
        ((1, 2), (3, 4), True),
        ((3, 4), (1, 2), True),
        ((1, 3), (2, 4), False),
        ((1, 2), (2, 3), False),
        ((None, None), (3, 4), False),
        ((3, 4), (None, None), False),
    ],
)
def test_intervals_are_apart_only_if_they_do_not_touch(one, other, answer):
    first, second = ({"low": low, "high": high} for low, high in (one, other))
    assert apart(first, second) is answer
