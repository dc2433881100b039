import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import clearformer as cf
from clearformer.errors import ClearformerError, ConfigurationError, TextError
from clearformer.explanation.axes import STAGE_AXES, split_name
from clearformer.models.linear import Unchanged

from .runs import run_of

SENTENCE = "to be or not to be"
KINDS = [
    {"recipe": "modern"},
    {"recipe": "classic"},
    {"recipe": "modern", "activation": "swiglu", "key_value_heads": 2},
    {"recipe": "classic", "tied": True, "heads": 1},
    {"recipe": "modern", "key_value_heads": 1},
]


@pytest.mark.parametrize("options", KINDS)
def test_listening_changes_nothing(options):
    run = run_of(**options)
    trace = run.explain(SENTENCE)
    untraced = run.model(np.array([trace.ids]))
    np.testing.assert_allclose(
        trace["logits"], untraced, rtol=1e-5, atol=1e-6 * np.abs(untraced).max()
    )


def test_listening_to_the_lesson_changes_nothing():
    trace = cf.explain("I like small models")
    untraced = trace.subject.model(np.array([trace.ids]))
    np.testing.assert_allclose(trace["logits"], untraced, atol=1e-6)


@pytest.mark.parametrize("options", KINDS)
def test_every_stage_follows_from_those_before(options):
    run = run_of(**options)
    trace = run.explain(SENTENCE)
    for layer in range(2):
        stage = {
            name: np.asarray(trace[f"blocks.{layer}.attention.{name}"])
            for name in ("query", "key", "value", "products", "scores", "masked_scores", "weights")
        }
        heads = run.configuration.heads
        key, value = (
            x if x.ndim == 3 else np.repeat(x, heads // x.shape[1], 1)
            for x in (stage["key"], stage["value"])
        )
        width = stage["query"].shape[-1]
        products = stage["query"] @ key.swapaxes(-1, -2)
        np.testing.assert_allclose(stage["products"], products, rtol=1e-4, atol=1e-4)
        made = run.configuration.completed
        scale = made.largest_score / width if made.query_key_norm else width**-0.5
        np.testing.assert_allclose(stage["scores"], products * scale, rtol=1e-4, atol=1e-4)
        np.testing.assert_allclose(stage["weights"].sum(-1), 1, atol=1e-5)
        np.testing.assert_allclose(
            trace[f"blocks.{layer}.attention.mixed"], stage["weights"] @ value, rtol=1e-4, atol=1e-4
        )
    np.testing.assert_allclose(trace["probabilities"].sum(-1), 1, atol=1e-5)


@pytest.mark.parametrize("positions", ["rotary", "sinusoidal"])
def test_a_shifted_token_is_itself_and_its_share_of_the_one_before(positions):
    run = run_of(positions=positions)
    trace = run.explain(SENTENCE)
    own = np.asarray(trace["embedding"])
    before = np.concatenate([np.zeros_like(own[:, :1]), own[:, :-1]], 1)
    shifted = own + run.model.parameters()["shift.share"] * before
    np.testing.assert_allclose(trace["shifted"], shifted, rtol=1e-5, atol=1e-6)
    added = trace["position"] if positions == "sinusoidal" else 0
    np.testing.assert_allclose(trace["positioned"], shifted + added, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("options", KINDS)
def test_stages_have_the_names_and_the_order_of_the_contract(options):
    trace = run_of(**options).explain(SENTENCE)
    order = [within for within in STAGE_AXES if within in {split_name(s.name)[1] for s in trace}]
    for layer in range(2):
        in_layer = [split_name(s.name)[1] for s in trace if split_name(s.name)[0] in (None, layer)]
        expected = sorted(in_layer, key=list(STAGE_AXES).index)
        moved = [n for n in expected if n != "attention.key_transposed"]
        assert [n for n in in_layer if n != "attention.key_transposed"] == moved
    assert ("position" in order) == (options["recipe"] == "classic")
    assert ("shifted" in order) == (options["recipe"] == "modern")
    assert {"norm_1", "norm_2", "norm", "attention.masked_scores"} <= set(order)


@pytest.mark.parametrize("options", KINDS)
def test_every_stage_has_a_name_for_each_axis(options):
    for trace in (run_of(**options).explain(SENTENCE), run_of(**options).explain(SENTENCE, head=0)):
        for stage in trace:
            assert len(stage.axes) == len(stage.shape), stage.name
            assert trace[stage.name].axes == stage.axes


@pytest.mark.parametrize(("chosen", "shared"), [(0, 0), (1, 0), (2, 1), (3, 1)])
def test_one_head_is_the_slice_of_all(chosen, shared):
    """Of four heads that share two keys, neighbours have the same key."""
    run = run_of(key_value_heads=2)
    every, one = run.explain(SENTENCE), run.explain(SENTENCE, head=chosen)
    of_stage = {"weights": chosen, "query": chosen, "key": shared, "mixed": chosen}
    for name, head in of_stage.items():
        stage = f"blocks.1.attention.{name}"
        assert "head" not in one[stage].axes
        assert np.array_equal(one[stage], every[stage][:, head])


def test_one_layer_is_a_part_of_all():
    run = run_of()
    every, one = run.explain(SENTENCE), run.explain(SENTENCE, layer=1)
    assert {s.name for s in one} < {s.name for s in every}
    assert not any(s.name.startswith("blocks.0") for s in one)
    for stage in one:
        assert np.array_equal(stage.values, every[stage.name])


def test_next_is_the_last_row_of_the_probabilities():
    trace = run_of().explain(SENTENCE)
    shares = sorted(np.asarray(trace["probabilities"][0, -1]).tolist(), reverse=True)
    assert [p for _, p in trace.next] == shares[: len(trace.next)]


def test_an_unknown_stage_names_the_nearest():
    trace = cf.explain("I like tea")
    with pytest.raises(KeyError, match=re.escape("blocks.0.attention.scores")) as caught:
        trace["scores"]
    assert isinstance(caught.value, ClearformerError)
    assert "\n" not in str(caught.value) and not str(caught.value).startswith("'")
    with pytest.raises(ClearformerError, match=re.escape("blocks.0.attention.weights")):
        trace["blocks.0.attention.wieghts"]


def test_stages_cannot_be_changed_by_accident():
    with pytest.raises(ValueError, match="read-only"):
        cf.explain("I like tea")["embedding"][0, 0, 0] = 1


def test_what_is_computed_from_a_stage_has_no_axes():
    scores = cf.explain("I like tea")["blocks.0.attention.scores"]
    assert scores.T.axes == () and (scores + 1).axes == ()


@pytest.mark.parametrize("causal", [False, True])
def test_json_is_strict_and_exact(causal):
    trace = cf.explain("I like\n tea, 猫", causal=causal)
    document = json.loads(json.dumps(trace.to_json(), allow_nan=False))
    assert {"tokens", "ids", "stages", "next"} <= set(document)
    assert document["tokens"] == list(trace.tokens)
    assert document["ids"] == list(trace.ids)
    assert document["next"][0] == {"token": trace.next[0][0], "probability": trace.next[0][1]}
    for found, stage in zip(document["stages"], trace, strict=True):
        assert set(found) == {"name", "axes", "shape", "values"}
        if stage.name == "tokens":
            assert found["values"] == list(trace.tokens)
            continue
        values = np.array(found["values"], float)  # null becomes nan
        assert list(values.shape) == found["shape"] == list(stage.shape)
        finite = np.isfinite(stage.values)
        assert np.array_equal(np.isfinite(values), finite)
        assert np.array_equal(values[finite], stage.values[finite].astype(float))


def test_a_sentence_longer_than_the_context_keeps_its_end_and_says_so():
    run = run_of(context=8)
    trace = run.explain("to be or not to be that is")
    assert "".join(trace.tokens) == " that is"
    assert any("explained are the last 8" in note for note in trace.notes)


def test_unknown_characters_are_reported():
    trace = run_of().explain("to Z be")
    assert "".join(trace.tokens) == "to  be"
    assert any("Z" in note for note in trace.notes)


def test_a_sentence_of_nothing_but_unknown_characters_is_refused():
    with pytest.raises(TextError, match="vocabulary"):
        run_of().explain("ZZZ")


@pytest.mark.parametrize("option", [{"embed": 8}, {"heads": 1}, {"causal": False}, {"seed": 0}])
def test_options_of_the_lesson_are_refused_with_a_run(option):
    with pytest.raises(ConfigurationError, match=next(iter(option))):
        run_of().explain(SENTENCE, **option)


def test_that_a_run_is_causal_may_be_said():
    assert len(run_of().explain(SENTENCE, causal=True)) == len(run_of().explain(SENTENCE))


def test_a_missing_run_is_refused(tmp_path: Path):
    with pytest.raises(ClearformerError):
        cf.explain(SENTENCE, run=tmp_path / "none")


def test_a_trace_that_would_be_too_large_is_refused_before_it_is_computed(monkeypatch):
    from clearformer.explanation import explain as module

    run = run_of()
    monkeypatch.setattr(module, "LARGEST_TRACE", 50_000)
    with pytest.raises(ConfigurationError, match="layer"):
        run.explain(SENTENCE)


def test_a_model_without_norms_shows_none():
    run = run_of(recipe="classic")
    blocks = tuple(replace(b, norm_1=Unchanged(), norm_2=Unchanged()) for b in run.model.blocks)
    run = replace(run, model=replace(run.model, blocks=blocks))
    names = {split_name(stage.name)[1] for stage in run.explain(SENTENCE)}
    assert "norm_1" not in names and "norm_2" not in names and "norm" in names
