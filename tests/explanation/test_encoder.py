"""An encoder is explained as what it is: a model that guesses from both sides."""

import json
from pathlib import Path

import numpy as np
import pytest

import clearformer as cf
from clearformer.errors import ConfigurationError
from clearformer.explanation.axes import split_name
from clearformer.models.encoder.build import build_encoder
from clearformer.models.encoder.configuration import EncoderConfiguration
from clearformer.runs.run import Run
from clearformer.text.tokenizer import build_tokenizer
from explanation.runs import TEXT, run_of

SENTENCE = "to <mask>e or n<mask>t"


def encoder(**options):
    tokenizer = build_tokenizer("characters", TEXT)
    sizes = {"layers": 2, "heads": 4, "embed": 16, "context": 24, **options}
    configuration = EncoderConfiguration(tokenizer.vocabulary_size, **sizes)
    rng = np.random.default_rng(1)
    model = build_encoder(configuration, rng).with_parameters(
        lambda _, x: rng.standard_normal(x.shape, np.float32) / 2
    )
    return Run(model, tokenizer, configuration, Path("runs/test"), 7, 0)


@pytest.mark.parametrize("options", [{}, {"recipe": "classic", "tied": True, "heads": 1}])
def test_listening_changes_nothing(options):
    run = encoder(**options)
    trace = run.explain(SENTENCE)
    np.testing.assert_allclose(
        trace["logits"], run.model(np.array([trace.ids])), rtol=1e-5, atol=1e-5
    )


def test_every_stage_is_shown_and_none_is_masked_out():
    trace = encoder().explain(SENTENCE)
    text = trace.text(100)
    for stage in trace:
        if split_name(stage.name)[0] in (None, 0):
            assert f"  {stage.name} " in text, stage.name
    assert not any("masked_scores" in stage.name for stage in trace)
    assert "comes next" not in text
    assert "next token" not in text
    weights = trace["blocks.0.attention.weights"]
    assert (np.asarray(weights) > 0).all()


def test_what_is_most_likely_is_told_of_the_first_mask():
    trace = encoder().explain(SENTENCE)
    assert trace.tokens[3] == trace.tokens[10] == "<mask>"
    probabilities = np.asarray(trace["probabilities"][0])
    assert trace.next[0][1] == pytest.approx(probabilities[3].max())
    assert list(trace.masks) == [3, 10]
    assert trace.masks[3] == trace.next
    assert trace.masks[10][0][1] == pytest.approx(probabilities[10].max())
    text = trace.text(100)
    assert "In the place of “<mask>” (position 3)" in text
    assert "position 10 " in text


def test_the_candidates_are_those_of_fill():
    run = encoder()
    trace, found = run.explain(SENTENCE), run.fill(SENTENCE, 3)
    for blank in found:
        wanted = trace.masks[blank.position][:3]
        assert [token for token, _ in blank.candidates] == [token for token, _ in wanted]
        shares = [share for _, share in blank.candidates]
        assert shares == pytest.approx([share for _, share in wanted], rel=1e-4)


def test_json_names_the_candidates_of_each_mask():
    document = json.loads(json.dumps(encoder().explain(SENTENCE).to_json()))
    assert [mask["position"] for mask in document["masks"]] == [3, 10]
    assert document["masks"][0]["candidates"] == document["next"]


def test_without_a_mask_it_says_what_is_shown_instead():
    trace = encoder().explain("to be")
    assert any("there is no <mask> here" in note for note in trace.notes)
    assert trace.masks == {}
    assert trace.next[0][1] == pytest.approx(float(np.asarray(trace["probabilities"][0, -1]).max()))
    assert "masks" not in trace.to_json()


def test_edits_are_compared_at_the_mask():
    trace = encoder().explain(SENTENCE)
    edited = trace.what_if("blocks.0.attention.mixed=0")
    np.testing.assert_allclose(edited.before, np.asarray(trace["probabilities"][0, 3]))
    assert "before" in edited.text(100)


def test_of_a_decoder_a_mask_stays_plain_text():
    run = run_of(text="<mask>" + TEXT)
    assert "".join(run.explain("to <mask>").tokens) == "to <mask>"
    assert run.prompt("a<mask>").ids == tuple(run.tokenizer.encode("a<mask>").tolist())


def test_saying_that_it_is_causal_is_refused():
    with pytest.raises(ConfigurationError, match="causal can be chosen for the lesson only"):
        cf.explain(SENTENCE, run=encoder(), causal=True)
    assert cf.explain(SENTENCE, run=encoder(), causal=False).tokens


def test_a_sentence_longer_than_the_model_sees_is_cut_and_said():
    trace = encoder().explain("<mask>" + "to be " * 10)
    assert len(trace.tokens) == 24
    assert any("explained are the last 24" in note for note in trace.notes)
