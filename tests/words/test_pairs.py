"""Which pairs count, and how much."""

import numpy as np
import pytest

from clearformer.words.noise import Noise
from clearformer.words.options import WordOptions
from clearformer.words.pairs import BLOCK, NOISE, epoch_of_pairs, pairs_of, within

NOISE_OF_TEN = Noise(np.full(10, 0.1))
ALL_KEPT = np.ones(100_000)


def test_a_column_counts_within_the_reach_of_its_row_and_a_word_not_for_itself():
    (found,) = within(np.array([[1, 2, 1]]), 2)
    # columns: two words before, the three of the block, two after
    assert found.astype(int).tolist() == [
        [0, 1, 0, 1, 0, 0, 0],
        [0, 1, 1, 0, 1, 1, 0],
        [0, 0, 0, 1, 0, 1, 0],
    ]


def test_nearer_words_count_more_often(rng):
    """The reach is 1 … c, all equally likely: at distance d a pair counts with (c - d + 1)/c."""
    window = 4
    around = np.zeros((400, BLOCK + 2 * window), int)
    found = pairs_of(around, NOISE_OF_TEN, WordOptions(window=window), rng).weights.mean(0)
    for distance in range(1, window + 1):
        for side in (-distance, distance):
            share = np.mean([found[row, row + window + side] for row in range(BLOCK)])
            assert share == pytest.approx((window - distance + 1) / window, abs=0.02)


def test_outside_of_the_text_there_are_no_pairs(rng):
    options = WordOptions(window=2)
    around = np.array([[-1, -1, 3, 4, 5, -1, -1, -1]])  # a block of four, the last place empty
    pairs = pairs_of(around, NOISE_OF_TEN, options, rng)
    words = pairs.weights[0, :, :8]
    assert not words[:, around[0] < 0].any()
    assert not words[3].any()
    assert not pairs.weights[0, 3].any(), "no noise for a place without a word"
    assert pairs.count == words.sum() > 0


@pytest.mark.parametrize("negatives", [1, 5, 40])
def test_noise_counts_k_times_for_each_pair_of_a_row(rng, negatives):
    options = WordOptions(window=3, negatives=negatives)
    pairs = pairs_of(rng.integers(0, 10, (5, 20)), NOISE_OF_TEN, options, rng)
    words, noise = np.split(pairs.weights, [20], -1)
    np.testing.assert_allclose(noise.sum(-1), negatives * words.sum(-1), 1e-12)
    assert pairs.targets[0].tolist() == [True] * 20 + [False] * NOISE


@pytest.mark.parametrize("length", [2, BLOCK - 1, BLOCK, 10 * BLOCK + 7, 1000])
def test_an_epoch_goes_through_every_pair_once(rng, length):
    """With a window of one, a text of n words has 2 (n - 1) pairs, each both ways."""
    ids = np.arange(length)
    found = []
    for _, pairs in epoch_of_pairs(ids, ALL_KEPT, NOISE_OF_TEN, WordOptions(window=1), rng):
        group, row, column = np.nonzero(pairs.weights * pairs.targets)
        found += zip(pairs.centres[group, row], pairs.contexts[group, column], strict=True)
    expected = [(n, n + 1) for n in range(length - 1)] + [(n + 1, n) for n in range(length - 1)]
    assert sorted((int(a), int(b)) for a, b in found) == sorted(expected)


def test_what_is_passed_over_lets_the_window_reach_further(rng):
    ids = np.tile([0, 1], 50)
    kept = np.array([0.0, 1.0])  # word 0 always goes
    for _, pairs in epoch_of_pairs(ids, kept, NOISE_OF_TEN, WordOptions(window=1), rng):
        counts = pairs.weights * pairs.targets
        group, row, column = np.nonzero(counts)
        assert {*pairs.centres[group, row]} == {*pairs.contexts[group, column]} == {1}


def test_the_share_that_is_done_rises_to_one(rng):
    epoch = epoch_of_pairs(np.arange(3000) % 10, ALL_KEPT, NOISE_OF_TEN, WordOptions(), rng)
    shares = [share for share, _ in epoch]
    assert shares == sorted(shares)
    assert shares[-1] == 1
    assert len(shares) > 5
