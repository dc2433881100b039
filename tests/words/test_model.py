"""The model and its loss, and a step of training."""

import numpy as np
import pytest

from clearformer.words.model import SkipGram
from clearformer.words.noise import Noise
from clearformer.words.options import WordOptions
from clearformer.words.pairs import NOISE, pairs_of
from clearformer.words.rows import EPSILON, Rows
from clearformer.words.training import train_step
from engines.proofs import check_gradient
from engines.runners import every_engine

OPTIONS = WordOptions(embed=3, window=2, negatives=4)
VOCABULARY = 9


@pytest.fixture
def pairs(rng):
    around = rng.integers(0, VOCABULARY - 2, (2, 7))  # the last two words do not occur
    around[1, -3:] = -1
    noise = Noise(np.array([1.0] * (VOCABULARY - 2)) / (VOCABULARY - 2))
    return pairs_of(around, noise, OPTIONS, rng)


def test_the_loss_is_equation_4_added_up_pair_by_pair(rng, pairs):
    centre, context = rng.normal(size=(2, VOCABULARY, 3))

    def log_sigma(x: float) -> float:
        return -np.log1p(np.exp(-x))

    expected, count = 0.0, 0
    for group, row, column in np.argwhere(pairs.weights * pairs.targets):
        v = centre[pairs.centres[group, row]]
        expected -= log_sigma(context[pairs.contexts[group, column]] @ v)
        drawn = pairs.contexts[group, -NOISE:]
        mean = np.mean([log_sigma(-context[word] @ v) for word in drawn])
        expected -= OPTIONS.negatives * mean
        count += 1
    assert count == pairs.count
    np.testing.assert_allclose(SkipGram(centre, context).loss(pairs), expected, 1e-12)


@every_engine
def test_its_gradient_agrees_with_finite_differences(by, rng, pairs):
    tables = rng.normal(size=(2, VOCABULARY, 3))
    check_gradient(lambda *x: SkipGram(*x).loss(pairs), *tables, by=by)


@pytest.mark.parametrize("engine", ["numpy", "torch"])
def test_a_step_moves_the_rows_it_touches_and_no_other(rng, pairs, engine):
    if engine == "torch":
        pytest.importorskip("torch", reason="the PyTorch engine needs PyTorch (extra torch)")
    before = rng.normal(size=(2, VOCABULARY, 3))
    centre, context = (Rows(table.copy(), 0.1) for table in before)
    loss = train_step(centre, context, pairs, engine, "cpu")
    touched = {int(word) for word in pairs.contexts.ravel()}
    moved = {int(word) for word in np.nonzero((context.table != before[1]).any(1))[0]}
    assert moved <= touched
    assert len(moved) > 3
    assert {*np.nonzero((centre.table != before[0]).any(1))[0]} <= {*pairs.centres.ravel()}
    assert SkipGram(centre.table, context.table).loss(pairs) < loss


def test_rows_move_by_adagrad(rng):
    table, first, second = rng.normal(size=(3, 4, 2))
    rows = Rows(table.copy(), 0.5)
    rows.update(np.array([2, 0]), first[[2, 0]])
    rows.update(np.array([2]), second[[2]])
    expected = table.copy()
    expected[0] -= 0.5 * first[0] / (abs(first[0]) + EPSILON)
    expected[2] -= 0.5 * first[2] / (abs(first[2]) + EPSILON)
    expected[2] -= 0.5 * second[2] / (np.sqrt(first[2] ** 2 + second[2] ** 2) + EPSILON)
    np.testing.assert_allclose(rows.table, expected, 1e-14)
