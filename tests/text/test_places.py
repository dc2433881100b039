"""The places of numbers in a list."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from clearformer.text.places import SLOTS, Places
from text.samples import many_examples

numbers = st.integers(0, 300) | st.integers(0, (1 << 63) - 1)


@many_examples
@given(st.lists(numbers, unique=True, max_size=60), st.lists(numbers, max_size=60))
def test_the_place_of_a_number_is_told_or_that_it_has_none(
    there: list[int], others: list[int]
) -> None:
    places = Places(np.array(there, np.int64))
    asked = there + others
    by_hand = [there.index(number) if number in there else len(there) for number in asked]
    assert places(np.array(asked, np.int64)).tolist() == by_hand


def test_numbers_that_have_the_same_slot_lie_in_further_tables() -> None:
    inverse = pow(0x9E3779B97F4A7C15, -1, 1 << 64)
    there = np.array([inverse * small % (1 << 64) for small in range(99)], np.uint64)
    there = there[there < 1 << 63].astype(np.int64)  # in the first table all have slot 0
    assert len(there) > SLOTS
    assert Places(there)(there).tolist() == [*range(len(there))]
