"""A recurrent model writes from its state: the same text as if it read everything anew."""

import json
from pathlib import Path

import numpy as np
import pytest

from clearformer.engines.choose import moved
from clearformer.generation import generate as generation
from clearformer.generation.sampling import Sampling
from clearformer.runs.run import Run
from clearformer.text import build_tokenizer
from generation.listening import heard
from models.recurrent.small import VARIANTS, every_variant, random_ids, random_model

pytestmark = pytest.mark.usefixtures("unchecked")


@every_variant
@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float32, 1e-5), (np.float64, 1e-12)])
def test_with_the_state_and_without_the_same_tokens_from_the_same_scores(
    configuration, dtype, tolerance, monkeypatch
):
    model = random_model(configuration, dtype)
    for length in (1, 8, 30):  # trained on windows of 8
        prompt = random_ids(length).tolist()
        ids, logits = heard(monkeypatch, model, prompt, 14, context=None)
        others, scores = heard(monkeypatch, model, prompt, 14, context=None, cached=False)
        np.testing.assert_allclose(logits, scores, rtol=0, atol=tolerance)
        assert ids == others


def test_a_prompt_longer_than_what_is_read_at_once_is_read_whole(monkeypatch):
    model = random_model(VARIANTS["lstm "])
    prompt = random_ids(50).tolist()
    whole = heard(monkeypatch, model, prompt, 5, context=None)
    monkeypatch.setattr(generation, "AT_ONCE", 7)
    parts = heard(monkeypatch, model, prompt, 5, context=None)
    assert parts[0] == whole[0]
    np.testing.assert_allclose(parts[1], whole[1], rtol=0, atol=1e-12)
    expected = model(np.array([prompt]))[0, -1]
    np.testing.assert_allclose(parts[1][0], expected, rtol=0, atol=1e-12)


def test_what_was_read_long_ago_still_counts():
    """An LSTM whose forget gates are open: the first of 200 tokens changes the last scores."""
    model = random_model(VARIANTS["lstm "])

    def opened(name, x):
        x = x.copy()
        if name.endswith("bias"):
            x[5:10] = 30  # the forget gate
        return x

    model, prompt = model.with_parameters(opened), random_ids(200)
    other = prompt.copy()
    other[0] = (other[0] + 1) % 11
    one, two = model(prompt[None])[0, -1], model(other[None])[0, -1]
    assert abs(one - two).max() > 1e-9  # in float64


@pytest.mark.usefixtures("torch")
@every_variant
def test_engines_write_the_same(configuration):
    model = random_model(configuration, np.float32)
    texts = [
        list(
            generation.generate(
                each,
                [1, 2, 3],
                20,
                context=None,
                sampling=Sampling(),
                rng=np.random.default_rng(0),
            )
        )
        for each in (model, moved(model, "torch", "cpu"))
    ]
    assert texts[0] == texts[1]


def test_a_prompt_has_no_limit_and_no_note(recwarn):
    text = "abcdefghijk"
    tokenizer = build_tokenizer("characters", text)
    model = random_model(VARIANTS["gru "], np.float32)
    run = Run(model, tokenizer, VARIANTS["gru "], Path("nowhere"), 0, 0)
    prompt = run.prompt(text * 30, 1000)
    assert (len(prompt.ids), prompt.notes) == (330, ())
    assert run.generate(text * 30, 20, seed=1) == run.generate(text * 30, 20, seed=1, cached=False)
    assert not recwarn.list
    json.dumps(run.explain(text * 2).to_json(), allow_nan=False)
