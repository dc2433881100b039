"""The laws of sequences laid out step by step."""

import numpy as np
import pytest

from clearformer.engines.packing import packing

SOME = [[3, 0, 5, 1], [5, 5, 5], [2, 2], [0, 0], [0], [1, 4, 4, 1, 3]]


@pytest.mark.parametrize("lengths", SOME, ids=str)
def test_every_position_that_is_there_lies_in_one_place(lengths):
    laid = packing(len(lengths), 5, np.array(lengths))
    found = sorted(zip(laid.rows.tolist(), laid.steps.tolist(), strict=True))
    assert found == [(row, step) for row, length in enumerate(lengths) for step in range(length)]
    assert laid.total == sum(lengths)


@pytest.mark.parametrize("lengths", SOME, ids=str)
def test_a_step_starts_from_the_state_of_the_same_row_a_step_before(lengths):
    batch = len(lengths)
    laid = packing(batch, 5, np.array(lengths))
    order = np.arange(batch) if laid.order is None else laid.order
    owner = np.concatenate([order, laid.rows])  # of each state
    moment = np.concatenate([np.full(batch, -1), laid.steps])
    before = np.arange(batch + laid.total)[laid.before]
    np.testing.assert_array_equal(owner[before], laid.rows)
    np.testing.assert_array_equal(moment[before], laid.steps - 1)
    for step, (now, earlier) in enumerate(laid.slices):
        np.testing.assert_array_equal(laid.steps[now], step)
        np.testing.assert_array_equal(np.arange(batch + laid.total)[earlier], before[now])
    last = np.arange(batch + laid.total)[laid.last]
    np.testing.assert_array_equal(owner[last][laid.back], np.arange(batch))
    np.testing.assert_array_equal(moment[last][laid.back], np.array(lengths) - 1)


def test_sequences_of_full_length_stay_as_they_are():
    for lengths in (None, np.array([4, 4])):
        laid = packing(2, 4, lengths)
        assert laid.order is None
        assert laid.total == 8
