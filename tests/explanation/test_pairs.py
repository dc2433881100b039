"""Laws of explaining a model on pairs: the answer, what was looked at, and what if not."""

from functools import cache
from pathlib import Path

import numpy as np
import pytest

from clearformer.errors import ConfigurationError, TextError
from clearformer.explanation.lines import cell_width
from clearformer.explanation.pair_page import is_alignment, shade
from clearformer.explanation.trace import StageError
from clearformer.models.kinds import KINDS, build
from clearformer.runs.run import Run
from clearformer.text.tokenizer import build_tokenizer

MODELS = {
    "none": ("seq2seq", {"attention": "none"}),
    "dot": ("seq2seq", {"layers": 2}),
    "additive": ("seq2seq", {"attention": "additive", "bidirectional": True, "cell": "lstm"}),
    "cross": ("encoder-decoder", {"heads": 2, "layers": 2}),
}

every_model = pytest.mark.parametrize("name", MODELS)


@cache
def run_of(name):
    """A run whose weights are all random."""
    kind, dials = MODELS[name]
    tokenizer = build_tokenizer("characters", "0123456789-年月日 March")
    sizes = {"embed": 8, "context": 20, **dials}
    configuration = KINDS[kind].configuration(tokenizer.vocabulary_size, **sizes)
    rng = np.random.default_rng(1)
    model = build(configuration, rng).with_parameters(
        lambda _, p: p + rng.standard_normal(p.shape, np.float32) / 2
    )
    return Run(model, tokenizer, configuration, Path("runs/pairs"), 7, 0)


@every_model
def test_the_trace_tells_of_source_target_and_every_step(name):
    run = run_of(name)
    trace = run.explain("3月 2021")
    assert trace.tokens == (*"3月 2021", "⟨end⟩")
    answer = "".join(t for t in trace["target_tokens"] if t != "⟨end⟩")
    assert run.translate(["3月 2021"]) == [answer]
    shares = trace["probabilities"][0]
    np.testing.assert_allclose(shares.sum(-1), 1, rtol=1e-5)
    written = trace["target_ids"][0]
    begin = run.configuration.vocabulary
    free = np.delete(shares, begin, -1)  # the begin is never written
    assert (shares[np.arange(len(written)), written] == free.max(-1)).all()
    assert trace.next[0][1] == pytest.approx(shares[-1].max())


@every_model
def test_weights_have_targets_on_one_side_and_sources_on_the_other(name):
    trace = run_of(name).explain("3月 2021")
    found = [stage for stage in trace if is_alignment(stage.name)]
    layers = {"none": 0, "dot": 1, "additive": 1, "cross": 2}[name]
    assert len(found) == layers
    for stage in found:
        assert stage.axes[-2:] == ("query", "key")
        assert stage.shape[-2:] == (len(trace["target_tokens"]), len(trace.tokens))
        np.testing.assert_allclose(stage.values.sum(-1), 1, rtol=1e-5)


@every_model
@pytest.mark.parametrize("width", [60, 110])
def test_the_page_shows_what_was_looked_at_within_its_width(name, width):
    run = run_of(name)
    text = run.explain("3月 2021").text(width)
    assert all(cell_width(line) <= width for line in text.splitlines())
    assert text.startswith("3月 2021 →")
    assert run.configuration.title in text
    if name == "none":
        assert "this model has no attention" in text
    else:
        assert "source →" in text
        assert "weights" in text


@every_model
def test_every_stage_has_a_name_for_each_axis(name):
    trace = run_of(name).explain("3月")
    for stage in trace:
        assert len(stage.axes) == stage.values.ndim, stage.name
    names = {stage.name for stage in trace}
    assert {"tokens", "ids", "encoder.embedding", "decoder.embedding", "logits"} <= names
    document = trace.to_json()
    assert document["tokens"] == ["3", "月", "⟨end⟩"]
    assert {stage["name"] for stage in document["stages"]} == names


def test_an_edit_changes_what_is_expected_and_not_what_is_read():
    trace = run_of("dot").explain("3月 2021")
    edited = trace.what_if("decoder.attention.weights[0,0]=5")
    assert edited["decoder.attention.weights"][0, 0, 0] == 5
    assert (edited["target_ids"] == trace["target_ids"]).all()
    assert (edited["probabilities"][0, 0] != trace["probabilities"][0, 0]).any()
    np.testing.assert_array_equal(edited["probabilities"][0, 1:], trace["probabilities"][0, 1:])
    assert "edited: decoder.attention.weights" in str(edited)
    assert "its probability now and before the edit" in " ".join(str(edited).split())
    assert "before the edit" not in str(trace)
    twice = edited.what_if({"decoder.attention.weights": lambda weights: 2 * weights})
    assert twice["decoder.attention.weights"][0, 0, 0] == 10


def test_a_layer_and_a_head_can_be_chosen():
    run = run_of("cross")
    whole, part = run.explain("3月"), run.explain("3月", layer=1, head=1)
    name = "decoder.blocks.1.cross.weights"
    assert part[name].axes == ("batch", "query", "key")
    np.testing.assert_array_equal(part[name], whole[name][:, 1])
    assert "decoder.blocks.0.cross.weights" not in part
    assert "mean over its 2 heads" in whole.text(100)
    assert "mean over" not in part.text(100)
    for choice in ({"layer": 2}, {"head": 2}, {"layer": -1}, {"head": True}):
        with pytest.raises(ConfigurationError, match=next(iter(choice))):
            run.explain("3月", **choice)


def test_what_cannot_be_explained_is_refused():
    run = run_of("dot")
    with pytest.raises(TextError, match="nothing is known"):
        run.explain("?!")
    with pytest.raises(TextError, match="20 tokens and its end"):
        run.explain("1" * 20)
    with pytest.raises(StageError, match=r"decoder\.attention\.weights"):
        run.explain("3月").what_if("attention.weights=0")
    with pytest.raises(ConfigurationError, match="follows from the sentence"):
        run.explain("3月", edits="ids=0")
    assert "'é'" in run.explain("3é").notes[0]


def test_the_map_of_a_model_that_looks_everywhere_alike_is_not_empty():
    shown = run_of("cross").explain("1月2月3月4月5月6月").text(40)
    assert "the darkest is" in shown
    assert "█" in shown


def test_darker_is_more():
    shown = [shade(w, 0.5) for w in (0.0, 0.05, 0.15, 0.25, 0.35, 0.45, 0.5)]
    assert shown == [0, 0, 1, 2, 3, 4, 4]
    assert shade(float("nan"), 0.5) == 0
    assert shade(0.1, 0.0) == 0
