"""Laws of an order that is computed place by place."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clearformer.text.permutation import ROUNDS, Permutation, random_numbers
from text.samples import many_examples

seeds = st.integers(0, 2**64 - 1)


def permutation(size: int, *seed: int) -> Permutation:
    return Permutation(size, random_numbers(ROUNDS, *seed))


@many_examples
@given(st.integers(1, 3000), seeds)
def test_every_number_comes_once(size: int, seed: int) -> None:
    order = permutation(size, seed).at(np.arange(size))
    assert len(permutation(size, seed)) == size
    assert np.array_equal(np.sort(order), np.arange(size))


@many_examples
@given(st.integers(1, 2**45), seeds, st.lists(st.integers(0, 2**45), min_size=1, max_size=20))
def test_a_place_does_not_depend_on_which_others_are_asked_for(
    size: int, seed: int, places: list[int]
) -> None:
    order = permutation(size, seed, 7)
    asked = np.array(places) % size
    found = order.at(asked)
    assert ((found >= 0) & (found < size)).all()
    assert [int(order.at(asked[n : n + 1])[0]) for n in range(len(asked))] == found.tolist()
    distinct = np.unique(asked)
    assert len(np.unique(order.at(distinct))) == len(distinct)


def test_each_seed_has_an_order_of_its_own() -> None:
    orders = {
        tuple(permutation(50, seed, epoch).at(np.arange(50)))
        for seed in range(20)
        for epoch in range(20)
    }
    assert len(orders) == 400


def test_the_order_is_the_same_in_every_version() -> None:
    """A run that was saved goes on in it."""
    assert permutation(10, 1, 2).at(np.arange(10)).tolist() == GOLDEN
    assert permutation(10**12, 3).at(np.arange(3)).tolist() == GOLDEN_LARGE


GOLDEN = [5, 9, 1, 2, 3, 0, 8, 4, 6, 7]
GOLDEN_LARGE = [175895609666, 923862040978, 225241733529]


def excess(counts: np.ndarray, expected: float, freedom: int) -> float:
    """By how many standard deviations χ² is too large, for counts that should all be `expected`."""
    squares = ((counts - expected) ** 2 / expected).sum()
    return float((squares - freedom) / np.sqrt(2 * freedom))


@pytest.mark.parametrize("size", [2, 3, 4, 5, 7, 10, 16, 31, 64])
def test_it_cannot_be_told_from_a_random_order(size: int) -> None:
    """Every number is at every place equally often, and so is every step between neighbours."""
    orders = 2000
    numbers, steps = np.zeros((size, size)), np.zeros(size)
    for seed in range(orders):
        order = permutation(size, seed).at(np.arange(size))
        numbers[np.arange(size), order] += 1
        np.add.at(steps, np.diff(order) % size, 1)
    assert excess(numbers, orders / size, (size - 1) ** 2) < 5
    if size > 2:
        assert excess(steps[1:], orders, size - 2) < 5
