"""Temperature: 0 is greedy, and what is nearly 0 is nearly greedy."""

import numpy as np
import pytest

import clearformer as cf
from clearformer.errors import ConfigurationError
from clearformer.generation.sampling import Sampling, probabilities
from generation.listening import heard
from models.decoders import VARIANTS, both_recipes, random_decoder


@both_recipes
@pytest.mark.parametrize("cached", [False, True])
def test_greedy_takes_the_largest_logit_each_time(recipe, cached, monkeypatch):
    model = random_decoder(VARIANTS[f"the {recipe} recipe"], np.float32)
    greedy = Sampling(temperature=0.0)
    ids, logits = heard(monkeypatch, model, [3], 12, greedy, context=8, cached=cached)
    assert ids == logits.argmax(-1).tolist()
    others, _ = heard(monkeypatch, model, [3], 12, greedy, context=8, cached=cached, seed=6)
    assert others == ids  # luck has no part in it


def test_greedy_gives_one_token_everything(rng):
    logits = rng.normal(size=9)
    share = probabilities(logits, Sampling(temperature=0.0, top_k=3, top_p=0.5))
    assert share.tolist() == [float(n == logits.argmax()) for n in range(9)]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_towards_zero_the_most_likely_token_takes_everything(dtype, rng):
    for _ in range(20):
        logits = rng.normal(size=30).astype(dtype)
        shares = [
            probabilities(logits, Sampling(temperature=t))[logits.argmax()]
            for t in (1.0, 0.3, 0.1, 0.03, 1e-5, 1e-20, 1e-300)
        ]
        assert shares == sorted(shares)
        assert shares[-1] == shares[-2] == 1
        assert cf.sample(logits, temperature=1e-300) == logits.argmax()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_towards_zero_even_the_smallest_lead_decides(dtype):
    logits = np.ones(3, dtype)
    logits[1] = np.nextafter(dtype(1), dtype(2))
    assert probabilities(logits, Sampling(temperature=1e-30)).tolist() == [0, 1, 0]


@pytest.mark.parametrize("temperature", [0.5, 1.0, 2.0])
def test_it_divides_the_logits(temperature, rng):
    logits = rng.normal(size=12)
    wanted = np.exp(logits / temperature) / np.exp(logits / temperature).sum()
    found = probabilities(logits, Sampling(temperature=temperature))
    np.testing.assert_allclose(found, wanted, rtol=1e-12)


def test_towards_infinity_all_tokens_are_alike(rng):
    share = probabilities(rng.normal(size=12), Sampling(temperature=1e9))
    np.testing.assert_allclose(share, 1 / 12, rtol=1e-7)


@pytest.mark.parametrize("temperature", [-1.0, -1e-9, float("nan"), float("inf")])
def test_a_temperature_that_means_nothing_is_refused(temperature):
    with pytest.raises(ConfigurationError, match="temperature") as caught:
        cf.sample(np.zeros(3), temperature=temperature)
    assert "\n" not in str(caught.value)
