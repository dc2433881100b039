"""Which stretches of an array are the same."""

from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clearformer.text import alike
from clearformer.text.alike import LONGEST_STRETCH, first_alike
from text.samples import many_examples

words = st.sampled_from(
    [*"ab\0", "\0\0", "a\0", "ab" * 4, "ab" * 4 + "\0", "ab" * 4 + "a", "ab" * 16, "ab" * 15 + "aa"]
)


def first_by_hand(stretches: list[str]) -> list[int]:
    return [stretches.index(stretch) for stretch in stretches]


def first(stretches: list[str], size: int) -> list[int]:
    points = np.array([*map(ord, "".join(stretches))], f"<u{size}")
    borders = np.cumsum([0, *map(len, stretches)])
    return first_alike(points, borders).tolist()


@pytest.mark.parametrize("size", [1, 2, 4])
@many_examples
@given(st.lists(words, min_size=1, max_size=40))
def test_the_first_of_those_that_are_the_same_is_told(size: int, stretches: list[str]) -> None:
    assert first(stretches, size) == first_by_hand(stretches)


@many_examples
@given(st.lists(words, min_size=1, max_size=40))
def test_it_is_told_though_all_have_the_same_slot(stretches: list[str]) -> None:
    with patch.object(alike, "_MULTIPLIER", np.uint64(0)):
        assert first(stretches, 1) == first_by_hand(stretches)


def test_the_longest_stretches_differ_in_their_last_byte() -> None:
    long = "a" * (LONGEST_STRETCH - 1)
    assert first([long + "b", long + "c", long, long + "c"], 1) == [0, 1, 2, 1]
