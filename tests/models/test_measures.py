"""Perplexity: among how many equally likely tokens a model is undecided."""

from math import exp

import numpy as np
import pytest

import clearformer as cf


@pytest.mark.parametrize("vocabulary", [1, 2, 65])
def test_of_even_logits_it_is_the_size_of_the_vocabulary(vocabulary):
    logits, targets = np.full((2, 3, vocabulary), 0.7), np.zeros((2, 3), int)
    assert cf.perplexity(logits, targets) == pytest.approx(vocabulary, rel=1e-12)


def test_it_is_the_exponential_of_the_loss(rng):
    logits, targets = rng.normal(size=(4, 9)), rng.integers(9, size=4)
    assert cf.perplexity(logits, targets) == pytest.approx(exp(cf.cross_entropy(logits, targets)))


def test_ignored_targets_do_not_count(rng):
    logits, targets = rng.normal(size=(4, 9)), rng.integers(9, size=4)
    some = targets.copy()
    some[[1, 2]] = -1
    found = cf.perplexity(logits, some, ignore=-1)
    assert found == pytest.approx(cf.perplexity(logits[[0, 3]], targets[[0, 3]]))


def test_a_hopeless_prediction_is_a_large_number_not_an_error():
    hopeless = cf.perplexity(np.array([[5000.0, 0.0]]), np.array([1]))
    assert hopeless > 1e300
