"""Laws of batches of pairs: every pair once, the same in any number of processes, resumable."""

from itertools import islice

import numpy as np
import pytest

from clearformer.errors import ConfigurationError, TextError
from clearformer.text import build_tokenizer
from clearformer.text.pair_batches import IGNORED, PairBatches
from clearformer.text.pair_ids import PairIds

PAIRS = [(f"{n}" * (1 + n % 3), f"{n + 1}") for n in range(23)]
TOKENIZER = build_tokenizer("characters", "0123456789")
IDS = PairIds.of(TOKENIZER, PAIRS)


def batches(batch=4, seed=0, **options):
    rng = np.random.default_rng(seed)
    return PairBatches(IDS, batch, rng, begin=10, end=11, **options)


def drawn(source, count):
    return [source.next() for _ in range(count)]


def same(ones, others):
    for one, other in zip(ones, others, strict=True):
        for a, b in zip(one, other, strict=True):
            np.testing.assert_array_equal(a, b)


def texts(block):
    sources, lengths, _, targets, *_ = block
    for row, length, wanted in zip(sources, lengths, targets, strict=True):
        assert row[length - 1] == 11
        assert (row[length:] == 11).all()
        kept = wanted[wanted != IGNORED]
        assert kept[-1] == 11
        yield TOKENIZER.decode(row[: length - 1]), TOKENIZER.decode(kept[:-1])


def test_every_pair_comes_once_in_each_epoch():
    source = batches()
    found = [pair for _ in range(23) for pair in texts(source.next())]
    assert len(found) == 4 * 23
    for epoch in range(4):
        assert sorted(found[epoch * 23 : (epoch + 1) * 23]) == sorted(PAIRS)
    assert found[:23] != found[23:46]


def test_inputs_are_targets_one_place_later():
    for _, _, inputs, targets, given, average in drawn(batches(), 5):
        assert (inputs[:, 0] == 10).all()
        counted = targets != IGNORED
        np.testing.assert_array_equal(
            inputs[:, 1:][counted[:, 1:]], targets[:, :-1][counted[:, 1:]]
        )
        assert given.all()
        assert average[0] * len(average) == pytest.approx(counted.sum())


def test_targets_are_those_of_the_last_batch():
    source = batches()
    for block in islice(iter(source.next, None), 5):
        assert source.targets == (block[3] != IGNORED).sum()


@pytest.mark.parametrize("ranks", [2, 3, 5])
def test_processes_share_each_batch(ranks):
    whole = batches(batch=6, forcing=0.5)
    parts = [batches(batch=6, forcing=0.5, rank=rank, ranks=ranks) for rank in range(ranks)]
    for _ in range(6):
        block, shares = whole.next(), [part.next() for part in parts]
        assert list(texts(block)) == [pair for share in shares for pair in texts(share)]
        row = 0
        for part, share in zip(parts, shares, strict=True):
            assert part.targets == whole.targets
            for given, average in zip(share[4], share[5], strict=True):
                np.testing.assert_array_equal(given, block[4][row, : len(given)])
                assert average == block[5][row]
                row += 1


@pytest.mark.parametrize("before", [0, 3, 6, 11])
def test_it_goes_on_where_it_was(before):
    source = batches(forcing=0.7)
    drawn(source, before)
    state = source.state()
    expected = drawn(source, 9)
    other = batches(seed=5, forcing=0.7)
    drawn(other, 2)
    other.restore(state)
    same(drawn(other, 9), expected)


def test_less_is_given_the_lower_the_rate():
    for rate in (0.0, 0.5, 0.9):
        given = np.concatenate(
            [block[4][:, 1:].ravel() for block in drawn(batches(forcing=rate), 90)]
        )
        assert given.mean() == pytest.approx(rate, abs=0.08)
    assert all(block[4][:, 0].all() for block in drawn(batches(forcing=0.0), 5))


def test_rows_of_several_lengths_are_all_there():
    shapes = {block[0].shape[1] for block in drawn(batches(batch=1), 23)}
    assert len(shapes) > 2


@pytest.mark.parametrize(
    "change", [{"pairs": 22}, {"key": -1}, {"key": 2**64}, {"position": 24}, {"epochs": "x"}]
)
def test_a_state_that_cannot_be_is_refused(change):
    source = batches()
    with pytest.raises(TextError):
        source.restore({**source.state(), **change})


def test_sizes_that_cannot_be_are_refused():
    with pytest.raises(ConfigurationError):
        batches(batch=0)
    with pytest.raises(ConfigurationError):
        batches(rank=2, ranks=2)
    with pytest.raises(TextError):
        PairBatches(PairIds.of(TOKENIZER, []), 4, np.random.default_rng(0), begin=10, end=11)


def test_what_is_given_is_drawn_anew_in_each_epoch():
    source = batches(batch=23, forcing=0.5)
    one, other = source.next()[4], source.next()[4]
    assert (one != other).any()
