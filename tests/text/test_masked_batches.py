"""Of each window equally many tokens are guessed, drawn from seed and place alone."""

import json

import numpy as np
import pytest

from clearformer.text.batches import Batches
from clearformer.text.masked_batches import IGNORED, MaskedBatches

VOCABULARY, CONTEXT, BATCH, PREDICTED = 50, 40, 6, 7
IDS = np.random.default_rng(0).integers(VOCABULARY, size=3000).astype(np.uint8)


def batches(rank=0, ranks=1, batch=BATCH, seed=0):
    windows = Batches(IDS, CONTEXT, batch, np.random.default_rng(seed), rank=rank, ranks=ranks)
    return MaskedBatches(windows, batch=batch, predicted=PREDICTED, mask=VOCABULARY)


def test_equally_many_tokens_of_each_window_are_guessed_at_places_of_their_own():
    source = batches()
    inputs, targets = source.next()
    chosen = targets != IGNORED
    assert inputs.shape == targets.shape == (BATCH, CONTEXT)
    assert (chosen.sum(1) == PREDICTED).all()
    assert source.targets == BATCH * PREDICTED == chosen.sum()
    assert len({tuple(np.flatnonzero(row)) for row in chosen}) == BATCH


def test_the_targets_are_the_tokens_of_the_text_and_all_else_is_read_as_it_is():
    windows = Batches(IDS, CONTEXT, BATCH, np.random.default_rng(0))
    source = batches()
    for _ in range(30):
        text, _ = windows.next()
        inputs, targets = source.next()
        chosen = targets != IGNORED
        assert (targets[chosen] == text[chosen]).all()
        assert (inputs[~chosen] == text[~chosen]).all()


def test_80_percent_are_masked_10_are_random_and_10_stay():
    source, fates = batches(), []
    for _ in range(400):
        inputs, targets = source.next()
        chosen = targets != IGNORED
        fates.append(np.stack([inputs[chosen], targets[chosen]]))
    read, there = np.concatenate(fates, 1)
    count = read.size
    assert (read == VOCABULARY).mean() == pytest.approx(0.8, abs=4 * np.sqrt(0.16 / count))
    kept = 0.1 + 0.1 / VOCABULARY  # a random token is the right one now and then
    assert (read == there).mean() == pytest.approx(kept, abs=4 * np.sqrt(0.1 / count))
    assert set(read.tolist()) == set(range(VOCABULARY + 1))


def test_every_place_of_a_window_is_guessed_equally_often():
    source, met = batches(), np.zeros(CONTEXT)
    for _ in range(400):
        met += (source.next()[1] != IGNORED).sum(0)
    expected = 400 * BATCH * PREDICTED / CONTEXT
    assert abs(met - expected).max() < 5 * np.sqrt(expected)


@pytest.mark.parametrize("ranks", [2, 3, 4])
def test_ranks_share_the_batch_of_one(ranks):
    whole, parts = batches(), [batches(rank, ranks) for rank in range(ranks)]
    for _ in range(100):
        shared = [part.next() for part in parts]
        for wanted, found in zip(whole.next(), zip(*shared, strict=True), strict=True):
            np.testing.assert_array_equal(np.concatenate(found), wanted)


def test_going_on_from_a_state_gives_the_same_batches():
    source = batches()
    for _ in range(25):  # 74 windows in an epoch, 6 in a batch: in the second and third epoch
        source.next()
        state = json.loads(json.dumps(source.state()))
    wanted = [source.next() for _ in range(20)]
    other = batches(seed=9)
    other.restore(state)
    for expected in wanted:
        for one, another in zip(other.next(), expected, strict=True):
            np.testing.assert_array_equal(one, another)


def test_no_two_batches_are_masked_alike():
    source = batches()
    patterns = {(source.next()[1] != IGNORED).tobytes() for _ in range(50)}
    assert len(patterns) == 50
