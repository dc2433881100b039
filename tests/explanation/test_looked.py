"""What attention looked at, as a table of tokens that look and tokens that are seen."""

import numpy as np
import pytest

import clearformer as cf
from clearformer.errors import ConfigurationError
from clearformer.explanation.looked import MOST, looked_at
from clearformer.explanation.trace import Stage, Trace
from explanation.test_pairs import run_of


def test_of_a_lesson_it_is_the_table_of_weights():
    trace = cf.explain("I like small models", causal=True)
    found = looked_at(trace)
    assert found.queries == found.keys == trace.tokens
    np.testing.assert_array_equal(found.weights, trace["blocks.0.attention.weights"][0])
    assert [len(row) for row in found.seen] == [1, 2, 3, 4]  # nobody sees what comes later


def test_of_several_heads_it_is_the_first_or_the_one_that_is_asked_for():
    whole = cf.explain("a b c", heads=2)["blocks.0.attention.weights"][0]
    for head in (None, 0, 1):
        found = looked_at(cf.explain("a b c", heads=2, head=head))
        np.testing.assert_array_equal(found.weights, whole[head or 0])


@pytest.mark.parametrize("name", ["dot", "additive", "cross"])
def test_of_pairs_the_target_looks_at_the_source(name):
    found = looked_at(run_of(name).explain("3月 2021"))
    assert found.name.startswith("decoder.")
    assert found.keys == (*"3月 2021", "⟨end⟩")
    assert found.weights.shape == (len(found.queries), len(found.keys))
    np.testing.assert_allclose(found.weights.sum(-1), 1, rtol=1e-5)


def test_where_there_is_no_attention_that_is_said():
    with pytest.raises(ConfigurationError, match="no attention"):
        looked_at(run_of("none").explain("3月"))


def test_numbers_that_an_edit_has_spoilt_are_drawn_as_nothing():
    trace = cf.explain("a b").what_if({"blocks.0.attention.scores": np.nan})
    assert looked_at(trace).seen == [[], []]


def test_a_sentence_without_room_is_refused():
    trace = cf.explain("a b")
    wide = np.zeros((1, MOST + 1, MOST + 1))
    weights = Stage("blocks.0.attention.weights", ("batch", "query", "key"), wide)
    with pytest.raises(ConfigurationError, match=f"at most {MOST} tokens; got {MOST + 1}"):
        looked_at(Trace(trace.subject, (trace.stage("tokens"), weights), trace.next))
