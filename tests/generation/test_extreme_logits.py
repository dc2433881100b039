"""Logits at the end of the numbers: a finite distribution without a warning, or a named error."""

import numpy as np
import pytest

import clearformer as cf
from clearformer.errors import ClearformerError
from clearformer.generation.sampling import Sampling, probabilities

LARGE = {np.float32: np.float32(3e38), np.float64: np.float64(1.7e308)}

SETTINGS = [
    Sampling(0.0),
    Sampling(1e-30),
    Sampling(0.8),
    Sampling(100.0),
    Sampling(1.0, top_k=2),
    Sampling(1.0, top_p=0.5),
    Sampling(0.8, top_k=2, top_p=0.9),
]

both_types = pytest.mark.parametrize("dtype", [np.float32, np.float64])
every_setting = pytest.mark.parametrize("sampling", SETTINGS, ids=str)


@both_types
@every_setting
def test_the_largest_logit_wins_over_the_smallest(dtype, sampling, rng):
    large = LARGE[dtype]
    share = probabilities(np.array([-large, large, 0, -large], dtype), sampling)
    assert share.tolist() == [0, 1, 0, 0]
    logits = np.array([-large, large, -large], dtype)
    assert all(cf.sample(logits, temperature=0.8, rng=rng) == 1 for _ in range(20))


@both_types
@every_setting
@pytest.mark.parametrize("sign", [-1, 0, 1])
def test_equal_logits_are_equally_likely_however_large(dtype, sampling, sign):
    share = probabilities(np.full(4, sign * LARGE[dtype], dtype), sampling)
    kept = share > 0
    assert share.sum() == 1
    assert len(set(share[kept].tolist())) == 1
    if sampling.temperature and sampling.top_k is None and sampling.top_p is None:
        assert kept.all()
    if sampling.top_p == 0.5:
        assert kept.sum() == 2


@both_types
@every_setting
def test_minus_infinity_has_no_probability(dtype, sampling):
    logits = np.array([1, -np.inf, 2, 1.5], dtype)
    share = probabilities(logits, sampling)
    assert share[1] == 0
    without = probabilities(np.delete(logits, 1), sampling)
    np.testing.assert_allclose(np.delete(share, 1), without, rtol=1e-6)


@both_types
@every_setting
def test_where_one_token_is_allowed_it_has_everything(dtype, sampling):
    logits = np.array([-np.inf, -np.inf, -LARGE[dtype], -np.inf], dtype)
    assert probabilities(logits, sampling).tolist() == [0, 0, 1, 0]


@both_types
def test_numbers_below_the_normal_ones_are_equally_likely(dtype):
    tiny = np.finfo(dtype).smallest_subnormal
    share = probabilities(np.array([tiny, 0, -tiny], dtype), Sampling(1.0))
    np.testing.assert_allclose(share, 1 / 3, rtol=1e-6)


@pytest.mark.parametrize("temperature", [0.0, 0.8])
@pytest.mark.parametrize(
    "logits",
    [[np.nan, 1.0, 2.0], [np.inf, 1.0], [np.inf, np.inf], [-np.inf, -np.inf], []],
    ids=["nan", "one infinity", "two infinities", "nothing allowed", "no tokens"],
)
def test_logits_without_a_largest_finite_one_are_refused(logits, temperature):
    """Never a token that the vocabulary does not have."""
    with pytest.raises(ClearformerError) as caught:
        cf.sample(np.array(logits), temperature=temperature)
    assert "\n" not in str(caught.value)
    assert "logits" in str(caught.value)
