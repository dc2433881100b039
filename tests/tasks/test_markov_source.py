"""A Markov source: what it draws is what its table says, and its entropy is exact."""

from itertools import pairwise, product
from math import log, log2

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clearformer.errors import ConfigurationError
from clearformer.models.ngram.fit import fit
from clearformer.tasks.markov_source import MarkovSource, random_source

few = settings(max_examples=30, deadline=None)
sources = st.builds(
    random_source,
    st.integers(0, 4),
    st.integers(1, 5),
    st.integers(0, 2**32),
    concentration=st.sampled_from([0.01, 0.3, 5.0]),
)


def expected_loss(source: MarkovSource, model) -> float:
    """Of a model on endless text of the source, in nats: no luck is in it."""
    n = source.order
    rows = [
        [context // source.alphabet**k % source.alphabet for k in range(n)][::-1]
        for context in range(len(source.table))
    ]
    found = model(np.array(rows))[:, -1]
    return -float((source.stationary[:, None] * source.table * found).sum())


def test_two_states_by_hand():
    """From 0 to 1 with chance a = 0.1, back with b = 0.4: π = (b, a) / (a + b) = (0.8, 0.2)."""
    source = MarkovSource(np.array([[0.9, 0.1], [0.4, 0.6]]), 1)
    assert source.stationary == pytest.approx([0.8, 0.2], abs=1e-15)
    of_0 = -0.9 * log2(0.9) - 0.1 * log2(0.1)
    of_1 = -0.4 * log2(0.4) - 0.6 * log2(0.6)
    assert source.entropy_rate_bits == pytest.approx(0.8 * of_0 + 0.2 * of_1, rel=1e-14)
    assert source.entropy_rate == pytest.approx(source.entropy_rate_bits * log(2), rel=1e-14)
    assert source.best_loss(0) == pytest.approx(-0.8 * log(0.8) - 0.2 * log(0.2), rel=1e-14)


def test_a_loaded_coin_has_the_entropy_of_its_side():
    source = MarkovSource(np.array([[0.25, 0.75]]), 0)
    assert source.entropy_rate_bits == pytest.approx(0.811278124459133, rel=1e-14)
    assert MarkovSource(np.ones((1, 1)), 5).entropy_rate == 0
    even = MarkovSource(np.full((64, 8), 1 / 8), 2)
    assert even.entropy_rate_bits == pytest.approx(3, rel=1e-14)


def test_parity_of_two_tokens_needs_both():
    """The next token is almost surely the sum mod 2 of the last two: one of them tells nothing."""
    table = np.array([[0.9, 0.1], [0.1, 0.9], [0.1, 0.9], [0.9, 0.1]])
    source = MarkovSource(table, 2)
    assert source.best_loss(2) == pytest.approx(-0.9 * log(0.9) - 0.1 * log(0.1), rel=1e-14)
    known = source.stationary.reshape(2, 2).sum(0)
    assert source.stationary.sum() == pytest.approx(1, abs=1e-15)
    assert source.best_loss(0) == pytest.approx(-(known * np.log(known)).sum(), rel=1e-12)
    assert source.best_loss(1) > source.best_loss(2) + 0.3


@few
@given(sources)
def test_the_stationary_distribution_stays(source):
    share = source.stationary
    assert abs(share.sum() - 1) < 1e-12
    assert (share >= 0).all()
    assert abs(source._moved(share) - share).sum() < 1e-12


@few
@given(sources)
def test_seeing_more_is_never_worse_and_the_order_is_enough(source):
    losses = [source.best_loss(window) for window in range(source.order + 3)]
    assert all(b <= a + 1e-12 for a, b in pairwise(losses))
    assert losses[source.order :] == [source.entropy_rate] * 3
    assert 0 <= source.entropy_rate <= log(source.alphabet) + 1e-12


def test_solving_and_iterating_find_the_same(monkeypatch):
    for order, alphabet, seed in product((1, 2, 3), (2, 4), range(3)):
        solved = random_source(order, alphabet, seed).stationary
        with monkeypatch.context() as patch:
            patch.setattr("clearformer.tasks.markov_source.SOLVED", 0)
            iterated = random_source(order, alphabet, seed).stationary
        assert abs(solved - iterated).sum() < 1e-12


def test_a_large_source_that_never_settles_is_refused(monkeypatch):
    monkeypatch.setattr("clearformer.tasks.markov_source.SOLVED", 0)
    monkeypatch.setattr("clearformer.tasks.markov_source.ROUNDS", 3)
    slow = MarkovSource(np.array([[1 - 1e-8, 1e-8], [1e-6, 1 - 1e-6]]), 1)
    with pytest.raises(ConfigurationError, match="larger concentration"):
        _ = slow.stationary


@pytest.mark.parametrize(("order", "alphabet"), [(0, 3), (1, 2), (2, 4), (3, 3)])
def test_what_is_drawn_follows_the_table(order, alphabet, rng):
    source = random_source(order, alphabet, 1)
    text = source.draw(rng, 200_000)
    assert text.dtype == np.int64
    assert 0 <= text.min() <= text.max() < alphabet
    context = np.zeros(len(text) - order, np.int64)
    for back in range(order, 0, -1):
        context = context * alphabet + text[order - back : len(text) - back]
    counts = np.zeros(source.table.shape)
    np.add.at(counts, (context, text[order:]), 1)
    visits = counts.sum(1, keepdims=True)
    noise = np.sqrt(visits * source.table * (1 - source.table)) + 1
    assert (abs(counts - visits * source.table) < 6 * noise).all()
    assert abs(visits[:, 0] / visits.sum() - source.stationary).max() < 0.01
    bits = -np.log(source.table[context, text[order:]])
    assert bits.mean() == pytest.approx(source.entropy_rate, rel=0.01)


def test_the_first_tokens_are_stationary_and_lead_to_the_next(rng):
    source = random_source(2, 3, 5)
    starts = np.array([source.draw(rng, 3) for _ in range(5000)])
    shares = np.bincount(starts @ [9, 3, 1], minlength=27) / 5000
    joint = (source.stationary[:, None] * source.table).reshape(-1)
    assert abs(shares - joint).max() < 0.03
    assert abs(joint - joint.reshape(3, 3, 3).transpose(1, 0, 2).reshape(-1)).max() > 0.1


def test_the_same_luck_draws_the_same_text_and_the_same_seed_the_same_table():
    one, again, other = (random_source(2, 5, seed) for seed in (3, 3, 4))
    assert (one.table == again.table).all()
    assert (one.table != other.table).any()
    text = one.draw(np.random.default_rng(8), 1000)
    assert (again.draw(np.random.default_rng(8), 1000) == text).all()
    for length in (0, 1, 2, 3):
        assert (one.draw(np.random.default_rng(8), length) == text[:length]).all()


def test_concentration_sets_how_much_can_be_known():
    rates = [
        random_source(2, 8, 0, concentration=each).entropy_rate_bits for each in (0.02, 0.3, 50)
    ]
    assert 0 < rates[0] < 1 < rates[1] < 2.5 < rates[2] < 3


@pytest.mark.parametrize(("order", "alphabet"), [(1, 8), (2, 4)])
def test_an_n_gram_comes_near_the_entropy_and_never_below(order, alphabet, rng):
    """On 100,000 tokens within 1 %; by Gibbs' inequality, the exact loss is never below."""
    source = random_source(order, alphabet, 2)
    text = source.draw(rng, 100_000)
    losses = [expected_loss(source, fit(text[:n], alphabet, order + 1)) for n in (300, 100_000)]
    assert source.entropy_rate < losses[1] < 1.01 * source.entropy_rate
    assert losses[1] < losses[0]
    fresh = fit(text, alphabet, order + 1).loss(source.draw(rng, 50_000))
    assert fresh == pytest.approx(losses[1], rel=0.02)


def test_an_n_gram_that_sees_too_little_reaches_what_its_window_allows(rng):
    source = random_source(3, 3, 7)
    text = source.draw(rng, 100_000)
    for window in range(3):
        loss = expected_loss(source, fit(text, 3, window + 1))
        assert source.best_loss(window) < loss < 1.01 * source.best_loss(window)
    assert source.best_loss(2) > 1.05 * source.entropy_rate


BAD_TABLES = {
    "rows missing": (np.full((3, 2), 0.5), 2),
    "a sum of 0.9": (np.array([[0.5, 0.4], [0.5, 0.5]]), 1),
    "a chance of 0": (np.array([[1.0, 0.0], [0.5, 0.5]]), 1),
    "below 0": (np.array([[1.5, -0.5], [0.5, 0.5]]), 1),
    "not a number": (np.array([[np.nan, 1.0], [0.5, 0.5]]), 1),
    "an order below 0": (np.array([[0.5, 0.5]]), -1),
    "no tokens": (np.zeros((1, 0)), 0),
}


@pytest.mark.parametrize("bad", BAD_TABLES)
def test_a_table_that_is_no_source_is_refused(bad):
    with pytest.raises(ConfigurationError) as refused:
        MarkovSource(*BAD_TABLES[bad])
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("order", "alphabet", "more"),
    [
        (-1, 4, {}),
        (2, 0, {}),
        (12, 4, {}),
        (10**9, 2, {}),
        (1, 4, {"concentration": 0.0}),
        (1, 4, {"concentration": float("nan")}),
        (1, 4, {"floor": 0.0}),
        (1, 4, {"floor": 1.5}),
    ],
)
def test_a_random_source_that_cannot_be_is_refused(order, alphabet, more):
    with pytest.raises(ConfigurationError):
        random_source(order, alphabet, 0, **more)


def test_lengths_and_windows_below_zero_are_refused(rng):
    source = random_source(1, 2, 0)
    with pytest.raises(ConfigurationError):
        source.draw(rng, -1)
    with pytest.raises(ConfigurationError):
        source.best_loss(-1)
