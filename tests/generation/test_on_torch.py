"""Generating on PyTorch: with a cache and without the same text, and that of NumPy."""

import numpy as np
import pytest

from clearformer.generation.sampling import Sampling
from generation.listening import heard
from models.decoders import VARIANTS, both_recipes, every_variant, random_decoder

torch = pytest.importorskip("torch", reason="the PyTorch engine needs PyTorch (extra torch)")

from clearformer.engines.torch import devices  # noqa: E402

pytestmark = pytest.mark.usefixtures("unchecked", "torch")

WAYS = [
    *(pytest.param(Sampling(temperature), id=f"T={temperature}") for temperature in (0.0, 1.0)),
    pytest.param(Sampling(0.8, top_k=3), id="top-k"),
    pytest.param(Sampling(0.8, top_p=0.7), id="top-p"),
]

TOKENS, PROMPT = 25, [1, 2, 3]
"""Together three times what the models see: the window slides several times."""


@every_variant
@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float32, 2e-5), (np.float64, 1e-12)])
def test_with_the_cache_and_without_the_tokens_are_the_same(
    configuration, dtype, tolerance, monkeypatch
):
    model = devices.moved(random_decoder(configuration, dtype), "cpu")
    context = configuration.context
    ids, logits = heard(monkeypatch, model, PROMPT, TOKENS, context=context)
    other = heard(monkeypatch, model, PROMPT, TOKENS, context=context, cached=False)
    np.testing.assert_allclose(logits, other[1], rtol=0, atol=tolerance)
    assert ids == other[0]


@both_recipes
@pytest.mark.parametrize("sampling", WAYS)
@pytest.mark.parametrize("cached", [True, False])
def test_the_tokens_are_those_of_numpy(recipe, sampling, cached, monkeypatch):
    """Also where they are drawn: luck is NumPy's, and logits differ in their last bits only.

    That another token is drawn for it has a chance of about the difference, 1e-6, per token.
    """
    configuration = VARIANTS[f"the {recipe} recipe"]
    model = random_decoder(configuration, np.float32)
    found = [
        heard(monkeypatch, each, PROMPT, TOKENS, sampling, context=8, cached=cached)
        for each in (model, devices.moved(model, "cpu"))
    ]
    assert found[0][0] == found[1][0]
    np.testing.assert_allclose(found[1][1], found[0][1], rtol=0, atol=1e-5)


def test_a_token_that_is_never_written_is_not(monkeypatch):
    """Its logits are taken away in an array that may be PyTorch's own memory."""
    from clearformer.generation.generate import generate

    configuration = VARIANTS["the modern recipe"]
    model = devices.moved(random_decoder(configuration, np.float32), "cpu")
    before = {path: tensor.clone() for path, tensor in model.parameters().items()}
    ids = generate(
        model, [1], 50, context=8, sampling=Sampling(2.0), rng=np.random.default_rng(0), never=[3]
    )
    assert 3 not in list(ids)
    assert all(torch.equal(before[path], p) for path, p in model.parameters().items())
