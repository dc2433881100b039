"""A recurrent model is explained: every gate and state, in words that its numbers bear out."""

from functools import cache
from pathlib import Path

import numpy as np
import pytest

from clearformer.errors import ConfigurationError, ShapeError
from clearformer.models.kinds import KINDS, build
from clearformer.runs.run import Run
from clearformer.text.tokenizer import build_tokenizer

TEXT = "To be, or not to be: that is the question.\n吾輩は猫である。"

CHOICES = {"rnn": {}, "lstm": {}, "gru": {}, "gru, before": {"reset": "before"}}

STAGES = {
    "rnn": ["hidden"],
    "lstm": ["input_gate", "forget_gate", "candidate", "cell", "output_gate", "hidden"],
    "gru": ["reset_gate", "update_gate", "candidate", "hidden"],
}

every_choice = pytest.mark.parametrize("choice", CHOICES)


@cache
def run_of(choice, tied=False):
    kind = choice.split(",")[0]
    tokenizer = build_tokenizer("characters", TEXT)
    sizes = {"layers": 2, "embed": 6, "hidden": 5, "context": 8, "tied": tied, **CHOICES[choice]}
    configuration = KINDS[kind].configuration(tokenizer.vocabulary_size, **sizes)
    rng = np.random.default_rng(1)
    model = build(configuration, rng).with_parameters(
        lambda _, x: rng.standard_normal(x.shape, np.float32) / 2
    )
    return Run(model, tokenizer, configuration, Path("runs/test"), 7, 0)


def stages_of(choice):
    return STAGES[choice.split(",")[0]]


@every_choice
def test_every_gate_and_state_is_a_stage_with_its_axes(choice):
    trace = run_of(choice).explain("to be or not to be")
    expected = [f"layers.{n}.{name}" for n in range(2) for name in stages_of(choice)]
    names = [stage.name for stage in trace]
    assert names == ["tokens", "ids", "embedding", *expected, "logits", "probabilities"]
    for name in expected:
        assert trace[name].axes == ("batch", "seq", "hidden")
        assert trace[name].shape == (1, 18, 5)
    assert "projected" in run_of(choice, tied=True).explain("to be")


@every_choice
def test_the_trace_ends_in_what_the_model_predicts(choice):
    run = run_of(choice)
    trace = run.explain("to be")
    logits = run.model(np.array([trace.ids]))
    assert np.array_equal(trace["logits"], logits)


def test_the_formulas_of_an_lstm_are_what_its_numbers_do():
    trace = run_of("lstm").explain("to be or not")
    let_in, forget, new, cell, show, hidden = (
        np.asarray(trace[f"layers.1.{name}"])[0] for name in STAGES["lstm"]
    )
    before = np.concatenate([np.zeros((1, 5), np.float32), cell[:-1]])
    np.testing.assert_allclose(cell, forget * before + let_in * new, atol=1e-6)
    np.testing.assert_allclose(hidden, show * np.tanh(cell), atol=1e-6)


@pytest.mark.parametrize("choice", ["gru", "gru, before"])
def test_the_formulas_of_a_gru_are_what_its_numbers_do(choice):
    run = run_of(choice)
    trace, layer = run.explain("to be or not"), run.model.layers[0]
    reset, update, new, hidden = (
        np.asarray(trace[f"layers.0.{name}"])[0] for name in STAGES["gru"]
    )
    before = np.concatenate([np.zeros((1, 5), np.float32), hidden[:-1]])
    np.testing.assert_allclose(hidden, (1 - update) * new + update * before, atol=1e-6)
    u_new = layer.weight_hidden[:, 10:]
    old = (reset * before) @ u_new
    if choice == "gru":
        old = reset * (before @ u_new + layer.bias_new)
    x = np.asarray(trace["embedding"])[0] @ layer.weight_input[:, 10:] + layer.bias[10:]
    np.testing.assert_allclose(new, np.tanh(x + old), atol=1e-6)


@every_choice
def test_an_edit_of_any_gate_changes_what_comes_after_and_nothing_before(choice):
    trace = run_of(choice).explain("to be or")
    for name in stages_of(choice):
        edited = trace.what_if(f"layers.0.{name}[3,2]=0.5")
        assert edited[f"layers.0.{name}"][0, 3, 2] == 0.5
        for other in ("layers.0.hidden", "logits"):
            np.testing.assert_allclose(edited[other][0, :3], trace[other][0, :3], atol=1e-5)
            assert not np.allclose(edited[other][0, 3:], trace[other][0, 3:], atol=1e-4)
        assert not np.allclose(edited["layers.0.hidden"][0, 4], trace["layers.0.hidden"][0, 4])
        assert [s.name for s in edited] == [s.name for s in trace]
        assert np.array_equal(edited.before, trace["probabilities"][0, -1])


@every_choice
def test_an_edit_that_changes_nothing_changes_nothing(choice):
    trace = run_of(choice).explain("to be or")
    for stage in trace.stages[1:]:
        edited = trace.what_if({stage.name: lambda x: x})
        for other in trace.stages[1:]:
            np.testing.assert_allclose(edited[other.name], other.values, atol=1e-5)


def test_a_forget_gate_that_is_shut_forgets():
    """Then the cell is what the input gate lets in, whatever was read before."""
    edited = run_of("lstm").explain("to be or", edits="layers.0.forget_gate=0")
    expected = edited["layers.0.input_gate"] * edited["layers.0.candidate"]
    np.testing.assert_allclose(edited["layers.0.cell"], expected, atol=1e-6)


def test_edits_of_several_stages_and_of_hidden_layers_work_together():
    run = run_of("gru")
    edits = {"layers.0.update_gate": 1, "layers.1.reset_gate": lambda x: x / 2}
    edited = run.explain("to be or", layer=1, edits=edits)
    whole = run.explain("to be or", edits=edits)
    assert "layers.0.hidden" not in edited
    assert not whole["layers.0.hidden"].any()  # it keeps its first state, which is 0
    assert np.array_equal(edited["logits"], whole["logits"])


@every_choice
@pytest.mark.parametrize("width", [60, 80, 140])
@pytest.mark.parametrize("tied", [False, True])
def test_the_page_tells_of_every_stage_within_its_width(choice, width, tied):
    trace = run_of(choice, tied).explain("to be or not to be")
    page = trace.text(width)
    for stage in trace:
        if not stage.name.startswith("layers.1"):
            assert f"  {stage.name}" in page
    assert max(map(len, page.splitlines())) <= max(width, 130)  # but for commands
    assert "h[t−1]" not in page
    assert "one token after another" in page
    assert f"--edit layers.0.{'hidden' if choice == 'rnn' else ''}" in page
    assert "attention" not in page
    assert "Transformer" not in page
    assert trace.text(width, layer=1) != page


def test_worked_examples_are_told_where_they_hold():
    trace = run_of("lstm").explain("to be")
    assert "For example cell[" in trace.text(140)
    assert "For example hidden[" in trace.text(140)
    assert "For example cell[" not in trace.what_if("layers.0.cell=3").text(140)
    assert "For example hidden[" in run_of("gru").explain("t").text(140)


@pytest.mark.parametrize(
    ("options", "kind", "message"),
    [
        ({"layer": 2}, ConfigurationError, "layer must be between 0 and 1"),
        ({"head": 0}, ConfigurationError, "this model has no heads; leave out head=0"),
        ({"edits": "blocks.0.attention.scores=0"}, ConfigurationError, "there is no stage"),
        ({"edits": "layers.0.input_gate=0"}, ConfigurationError, "the nearest are"),
        ({"edits": "layers.0.hidden[9,0]=0"}, ShapeError, "batch 1, seq 5, hidden 5"),
        ({"edits": {"layers.0.hidden": [1, 2]}}, ShapeError, "does not fit"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(options, kind, message):
    with pytest.raises(kind, match=message) as caught:
        run_of("gru").explain("to be", **options)
    assert "\n" not in str(caught.value)
