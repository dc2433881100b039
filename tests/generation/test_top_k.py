"""Top-k keeps the k most likely tokens, in their proportions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

import clearformer as cf
from clearformer.errors import ConfigurationError
from clearformer.generation.sampling import Sampling, probabilities
from engines.proofs import few_examples

# few different numbers, so that there are many ties
tied_logits = some.lists(some.integers(-3, 3), min_size=1, max_size=20).map(
    lambda numbers: np.array(numbers, np.float64)
)


@few_examples
@given(logits=tied_logits, k=some.integers(1, 25), temperature=some.sampled_from([0.5, 1.0, 3.0]))
def test_exactly_k_are_kept_and_none_that_is_dropped_is_likelier(logits, k, temperature):
    """Also where several are equally likely: then some of these are kept and others not."""
    share = probabilities(logits, Sampling(temperature=temperature, top_k=k))
    kept = share > 0
    assert kept.sum() == min(k, len(logits))
    if not kept.all():
        assert logits[kept].min() >= logits[~kept].max()


@few_examples
@given(logits=tied_logits, k=some.integers(1, 25))
def test_what_is_kept_keeps_its_proportions(logits, k):
    share = probabilities(logits, Sampling(temperature=1.0, top_k=k))
    kept = share > 0
    wanted = np.exp(logits[kept]) / np.exp(logits[kept]).sum()
    np.testing.assert_allclose(share[kept], wanted, rtol=1e-12)


def test_of_one_is_greedy(rng):
    for _ in range(50):
        logits = rng.normal(size=20)
        assert cf.sample(logits, top_k=1, rng=rng) == logits.argmax()


def test_as_large_as_the_vocabulary_it_keeps_everything(rng):
    logits = rng.normal(size=5)
    everything = probabilities(logits, Sampling(temperature=1.0))
    for k in (5, 6, 10**9):
        assert (probabilities(logits, Sampling(1.0, top_k=k)) == everything).all()


def test_the_logits_are_not_touched(rng):
    logits = rng.normal(size=9)
    before = logits.copy()
    probabilities(logits, Sampling(temperature=0.7, top_k=3, top_p=0.5))
    cf.sample(logits, temperature=0.7, top_k=3, top_p=0.5, rng=rng)
    assert (logits == before).all()


@pytest.mark.parametrize("k", [0, -1])
def test_less_than_one_is_refused(k):
    with pytest.raises(ConfigurationError, match="top_k") as caught:
        cf.sample(np.zeros(3), top_k=k)
    assert str(k) in str(caught.value)
