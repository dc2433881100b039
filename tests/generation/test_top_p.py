"""Top-p keeps the most likely tokens that together reach p, and not one more."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some
from hypothesis.extra.numpy import arrays

import clearformer as cf
from clearformer.errors import ConfigurationError
from clearformer.generation.sampling import Sampling, probabilities
from engines.proofs import few_examples

logits_of_any_kind = some.one_of(
    arrays(np.float64, some.integers(1, 30), elements=some.floats(-5, 5)),
    arrays(np.float64, some.integers(1, 30), elements=some.integers(-2, 2)),  # many ties
    arrays(np.float32, some.integers(1, 30), elements=some.floats(-5, 5, width=32)),
)


@few_examples
@given(logits=logits_of_any_kind, p=some.floats(0.001, 1.0))
def test_the_least_that_reaches_p_is_kept(logits, p):
    share = probabilities(logits, Sampling(temperature=1.0))
    kept = probabilities(logits, Sampling(temperature=1.0, top_p=p)) > 0
    rounding = 1e-5 if logits.dtype == np.float32 else 1e-12
    mass = share[kept].sum()
    assert mass >= p - rounding
    assert mass - share[kept].min() < p + rounding  # without the last one it is not reached
    if not kept.all():
        assert share[kept].min() >= share[~kept].max()


@few_examples
@given(logits=logits_of_any_kind, p=some.floats(0.001, 1.0))
def test_what_is_kept_keeps_its_proportions(logits, p):
    share = probabilities(logits, Sampling(temperature=1.0))
    found = probabilities(logits, Sampling(temperature=1.0, top_p=p))
    kept = found > 0
    np.testing.assert_allclose(found.sum(), 1, rtol=1e-5)
    np.testing.assert_allclose(found[kept], share[kept] / share[kept].sum(), rtol=1e-5)


def kept(shares, **settings):
    found = probabilities(np.log(shares), Sampling(temperature=1.0, **settings))
    return np.flatnonzero(found).tolist()


def test_the_token_that_crosses_p_is_kept():
    shares = np.array([0.1, 0.4, 0.2, 0.3])
    assert kept(shares, top_p=0.39) == [1]
    assert kept(shares, top_p=0.41) == [1, 3]
    assert kept(shares, top_p=0.69) == [1, 3]
    assert kept(shares, top_p=0.71) == [1, 2, 3]
    assert kept(shares, top_p=0.91) == [0, 1, 2, 3]
    assert kept(shares, top_p=1e-9) == [1]
    assert kept(shares, top_p=1.0) == [0, 1, 2, 3]


def test_the_token_that_reaches_p_exactly_is_the_last():
    """Halves are exact in floating point: 1/2 + 1/4 = 3/4."""
    shares = np.array([0.5, 0.25, 0.125, 0.125])
    logits = np.array([0.0, -np.log(2), -np.log(4), -np.log(4)])
    assert kept(shares, top_p=0.75) == kept(np.exp(logits), top_p=0.75) == [0, 1]
    assert kept(shares, top_p=0.5) == [0]


def test_it_comes_after_top_k_and_after_the_temperature():
    """Of 0.4 and 0.3 among three that share 0.9, p = 0.75 is reached; of all, it is not."""
    shares = np.array([0.4, 0.3, 0.2, 0.1])
    assert kept(shares, top_p=0.75) == [0, 1, 2]
    assert kept(shares, top_p=0.75, top_k=3) == [0, 1]
    cold = probabilities(np.log(shares), Sampling(temperature=0.1, top_p=0.75))
    assert np.flatnonzero(cold).tolist() == [0]


@pytest.mark.parametrize("p", [0.0, -0.5, 1.0000001, float("nan")])
def test_a_share_that_is_none_is_refused(p):
    with pytest.raises(ConfigurationError, match="top_p") as caught:
        cf.sample(np.zeros(3), top_p=p)
    assert "\n" not in str(caught.value)
