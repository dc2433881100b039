"""Laws of the learning rate: it depends on the progress alone, rises, stays, falls to zero."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clearformer.training.options import TrainingOptions
from clearformer.training.schedule import learning_rate

shares = st.floats(0, 1)
quick = settings(max_examples=200, deadline=None, derandomize=True)


def test_it_rises_in_a_straight_line_stays_level_and_falls_straight_to_zero():
    options = TrainingOptions(learning_rate=0.01, warm_up=0.2, decay_from=0.5)
    found = [learning_rate(options, tenths / 10) for tenths in range(11)]
    expected = [0, 0.5, 1, 1, 1, 1, 0.8, 0.6, 0.4, 0.2, 0]
    assert found == pytest.approx([0.01 * factor for factor in expected])


def test_without_warm_up_it_begins_at_the_top():
    options = TrainingOptions(learning_rate=0.01, warm_up=0.0)
    assert learning_rate(options, 0.0) == 0.01


def test_without_decay_it_ends_at_the_top():
    options = TrainingOptions(learning_rate=0.01, decay_from=1.0)
    assert learning_rate(options, 1.0) == 0.01


@given(st.floats(1e-6, 10), shares, shares, shares)
@quick
def test_it_is_never_negative_nor_above_the_largest(largest, warm_up, decay_from, progress):
    options = TrainingOptions(learning_rate=largest, warm_up=warm_up, decay_from=decay_from)
    assert 0 <= learning_rate(options, progress) <= largest


@given(st.lists(shares, min_size=2, max_size=9), st.randoms(use_true_random=False))
@quick
def test_it_depends_on_the_progress_alone(moments, random):
    """Neither on what was asked before nor on the number of steps: a resumed run goes on."""
    first = {p: learning_rate(TrainingOptions(steps=10), p) for p in moments}
    random.shuffle(moments)
    assert {p: learning_rate(TrainingOptions(minutes=3.0), p) for p in moments} == first


@pytest.mark.parametrize("warm_up, decay_from", [(0.05, 0.4), (0.5, 0.5), (0.8, 0.4), (1.0, 0.0)])
def test_it_never_jumps(warm_up, decay_from):
    options = TrainingOptions(learning_rate=1.0, warm_up=warm_up, decay_from=decay_from)
    steepest = max(1 / warm_up, 1 / max(1 - decay_from, 1e-9))
    rates = [learning_rate(options, n / 1000) for n in range(1001)]
    for before, after in pairwise(rates):
        assert abs(after - before) <= steepest / 1000 + 1e-9
