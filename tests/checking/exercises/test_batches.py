"""The exercises on windows of a text."""

import numpy as np
import pytest
import torch

from checking.trying import verdict_of
from clearformer.checking.exercises import get_batch, split_windows
from clearformer.text.batches import Batches

BATCH, SPLIT = get_batch.EXERCISE, split_windows.EXERCISE


def test_the_reference_is_the_librarys_own_batch(rng):
    ids = rng.permutation(500)
    batches = Batches(ids, 7, 5, rng)
    for _ in range(20):
        x, y = batches.next()
        starts = np.array([int(np.flatnonzero(ids == first)[0]) for first in x[:, 0]])
        mine = BATCH.version()(ids, starts, 7)
        assert np.array_equal(mine[0], x)
        assert np.array_equal(mine[1], y)


def test_no_token_of_the_test_is_in_the_training_windows(rng):
    for n, T, fraction in ((50, 4, 0.9), (31, 7, 0.6)):
        train, test = SPLIT.version()(rng.permutation(n), T, fraction)
        assert not set(train.ravel()) & set(test.ravel())
        assert len(train) + len(test) == n - 2 * (T - 1)


def by_indices(data, starts, block_size):
    places = starts[:, None] + np.arange(block_size + 1)
    return data[places][:, :-1], data[places][:, 1:]


def by_lists(data, starts, block_size):
    x = [[data[s + t] for t in range(block_size)] for s in starts]
    y = [[data[s + t + 1] for t in range(block_size)] for s in starts]
    return np.array(x), np.array(y)


def stacked(data, starts, block_size):
    x = torch.stack([data[i : i + block_size] for i in starts])
    y = torch.stack([data[i + 1 : i + 1 + block_size] for i in starts])
    return x, y


def viewed(data, block_size, fraction):
    place = int(len(data) * fraction)
    view = np.lib.stride_tricks.sliding_window_view
    return view(data[:place], block_size), view(data[place:], block_size)


@pytest.mark.parametrize(
    ("answer", "exercise"),
    ((by_indices, BATCH), (by_lists, BATCH), (stacked, BATCH), (viewed, SPLIT)),
)
def test_right_answers_in_other_styles_are_right(answer, exercise):
    verdict = verdict_of(answer, exercise)
    assert (verdict.kind, verdict.mistakes) == ("right", [])


def test_what_is_wrong_in_no_known_way_gets_no_name():
    def backwards(data, starts, block_size):
        x, y = by_indices(data, starts, block_size)
        return x[:, ::-1], y

    def far(data, starts, block_size):
        places = (starts[:, None] + np.arange(block_size) + 5) % len(data)
        return by_indices(data, starts, block_size)[0], data[places]

    for answer in (backwards, far):
        verdict = verdict_of(answer, BATCH)
        assert (verdict.kind, verdict.mistakes) == ("wrong", [])
