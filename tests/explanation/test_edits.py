import numpy as np
import pytest

import clearformer as cf
from clearformer.errors import ClearformerError, ConfigurationError, ShapeError
from clearformer.explanation.edits import parse_edit

from .runs import run_of

SENTENCE = "I like small models"
WEIGHTS = "blocks.0.attention.weights"
MIXED = "blocks.0.attention.mixed"


def same(a, b):
    return np.array_equal(np.asarray(a), np.asarray(b))


def test_an_edit_that_changes_nothing_changes_nothing():
    trace = cf.explain(SENTENCE)
    for stage in trace.stages[1:]:
        if not stage.name.endswith("key_transposed"):
            edited = trace.what_if({stage.name: lambda x: x})
            assert all(same(edited[s.name], s.values) for s in trace), stage.name


def test_what_comes_before_an_edit_stays_and_what_comes_after_follows():
    trace = cf.explain(SENTENCE)
    edited = trace.what_if({WEIGHTS: np.eye(4)})
    assert same(edited["blocks.0.attention.scores"], trace["blocks.0.attention.scores"])
    assert same(edited[WEIGHTS], np.eye(4)[None])
    np.testing.assert_allclose(edited[MIXED], trace["blocks.0.attention.value"], atol=1e-6)
    assert not np.allclose(edited["logits"], trace["logits"])
    assert same(trace[WEIGHTS].sum(), cf.explain(SENTENCE)[WEIGHTS].sum())


def test_a_number_fills():
    edited = cf.explain(SENTENCE, edits={MIXED: 0})
    assert not edited[MIXED].any()
    assert same(edited["blocks.0.after_attention"], edited["positioned"])


def test_edits_of_a_trace_stay_when_more_follow():
    edited = cf.explain(SENTENCE).what_if({MIXED: 0}).what_if({"logits": lambda x: -x})
    assert not edited[MIXED].any()
    expected = cf.explain(SENTENCE).what_if({MIXED: 0})["logits"]
    assert same(edited["logits"], -expected)


def test_several_edits_of_one_stage_are_made_in_order():
    edited = cf.explain(
        SENTENCE, edits=[f"{WEIGHTS}=0", f"{WEIGHTS}[3,0]=1", f"{WEIGHTS}[0,2,1]=2"]
    )
    expected = np.zeros((1, 4, 4))
    expected[0, 3, 0], expected[0, 2, 1] = 1, 2
    assert same(edited[WEIGHTS], expected)


def test_minus_infinity_masks():
    edited = cf.explain(SENTENCE, edits="blocks.0.attention.scores[3,0]=-inf")
    assert edited[WEIGHTS][0, 3, 0] == 0
    np.testing.assert_allclose(edited[WEIGHTS].sum(-1), 1, atol=1e-6)


def test_a_list_broadcasts():
    edited = cf.explain(SENTENCE, edits=f"{WEIGHTS}=[1,0,0,0]")
    assert same(edited[WEIGHTS], np.broadcast_to([1, 0, 0, 0], (1, 4, 4)))


def test_other_ids_are_other_tokens():
    edited = cf.explain(SENTENCE, edits="ids[3]=3")
    assert edited.tokens == ("I", "like", "small", "like")
    assert same(edited["embedding"][0, 3], edited["embedding"][0, 1])


def test_an_edit_of_one_head_leaves_the_others():
    run = run_of()
    every, edited = run.explain("to be"), run.explain("to be", head=2, edits={MIXED: 0})
    everywhere = run.explain(
        "to be", edits={MIXED: lambda x: x * (np.arange(4) != 2)[:, None, None]}
    )
    np.testing.assert_allclose(edited["logits"], everywhere["logits"], rtol=1e-5, atol=1e-5)
    assert not np.allclose(edited["logits"], every["logits"])


def test_a_layer_that_is_not_shown_can_be_edited():
    run = run_of()
    edited = run.explain("to be", layer=1, edits={MIXED: 0})
    expected = run.explain("to be", edits={MIXED: 0})
    assert MIXED not in edited and same(edited["logits"], expected["logits"])


def test_the_trace_remembers_the_probabilities_without_its_edits():
    trace = cf.explain(SENTENCE)
    assert trace.before is None
    edited = trace.what_if({MIXED: 0}).what_if({"positioned": 1})
    assert same(edited.before, trace["probabilities"][0, -1])


@pytest.mark.parametrize(
    ("edit", "error"),
    [
        ({"scores": 0}, KeyError),
        ({"blocks.1.attention.scores": 0}, KeyError),
        ({"norm": 0}, KeyError),
        ({"": 0}, KeyError),
        ({WEIGHTS: [1, 2]}, ShapeError),
        ({WEIGHTS: np.ones((2, 4, 4))}, ShapeError),
        ({WEIGHTS: [[1, 2], [3]]}, ConfigurationError),
        ({WEIGHTS: "much"}, ConfigurationError),
        ({WEIGHTS: None}, ConfigurationError),
        ({WEIGHTS: lambda x: x[..., 0:2]}, ShapeError),
        ({"ids": 6}, ConfigurationError),
        ({"ids": -1}, ConfigurationError),
        ({"ids": 0.5}, ConfigurationError),
        ({"tokens": 0}, ConfigurationError),
        ({"blocks.0.attention.key_transposed": 0}, ConfigurationError),
        (f"{WEIGHTS}[9,0]=1", ShapeError),
        (f"{WEIGHTS}[0]=1", ShapeError),
        (f"{WEIGHTS}[0,0,0,0]=1", ShapeError),
    ],
)
def test_an_edit_that_cannot_be_is_refused_in_one_line(edit, error):
    with pytest.raises(ClearformerError) as caught:
        cf.explain(SENTENCE, edits=edit)
    assert isinstance(caught.value, error)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "text",
    ["", "=", "a", "a=", "=1", "a=b", "a=nan", 'a="x"', "a={}", "a=true", "a[1=2", "a[x]=2",
     "a[]=2", "a[0]=[1]", "a=" + "[" * 100_000],
)  # fmt: skip
def test_what_is_no_edit_is_refused(text):
    with pytest.raises(ConfigurationError):
        parse_edit(text)


@pytest.mark.parametrize(
    ("text", "value"),
    [("a=1", 1), ("a = -2.5e3 ", -2500.0), ("a=-inf", -np.inf), ("a=[1,[2]]", [1, [2]])],
)
def test_a_value_is_a_number_or_a_list(text, value):
    assert parse_edit(text) == ("a", value)


def test_infinite_edits_give_strict_json_all_the_same():
    import json

    edited = cf.explain(SENTENCE, edits={"positioned": np.inf})
    json.dumps(edited.to_json(), allow_nan=False)
    assert edited.text(80)


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (f"ids[0]={'9' * 30}", "too large"),
        (f"embedding[0,0]={'9' * 400}", "too large"),
        ("ids[0]=inf", "whole numbers"),
        ("ids[0]=1.5", "whole numbers"),
    ],
)
def test_a_number_that_does_not_fit_a_cell_is_refused(edit, message):
    with pytest.raises(ConfigurationError, match=message):
        cf.explain(SENTENCE, edits=[edit])
