import numpy as np
import pytest

import clearformer as cf
from clearformer.errors import ClearformerError, ConfigurationError, TextError

SENTENCE = "I like small models"


def test_the_first_lesson_has_the_numbers_of_the_book():
    trace = cf.explain(SENTENCE)
    assert trace.tokens == ("I", "like", "small", "models")
    assert trace.ids == (2, 3, 4, 5)
    assert trace["positioned"].shape == (1, 4, 8)
    assert trace["blocks.0.attention.key_transposed"].shape == (1, 8, 4)
    assert trace["blocks.0.attention.scores"].shape == (1, 4, 4)
    assert trace["blocks.0.attention.scores"].axes == ("batch", "query", "key")


def test_shared_projections_take_the_positioned_vectors_as_they_are():
    trace = cf.explain(SENTENCE)
    for name in ("query", "key", "value"):
        assert np.array_equal(trace[f"blocks.0.attention.{name}"], trace["positioned"])


def test_separate_projections_differ_from_each_other():
    trace = cf.explain(SENTENCE, projections="separate")
    query, key = trace["blocks.0.attention.query"], trace["blocks.0.attention.key"]
    assert not np.allclose(query, key)
    assert not np.allclose(query, trace["positioned"])


def test_the_embedding_is_the_same_in_every_variant():
    plain = cf.explain(SENTENCE)["embedding"]
    for options in ({"projections": "separate"}, {"causal": True}, {"heads": 2}):
        assert np.array_equal(cf.explain(SENTENCE, **options)["embedding"], plain)
    assert not np.array_equal(cf.explain(SENTENCE, seed=1)["embedding"], plain)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("projections", ["shared", "separate"])
def test_the_lesson_is_the_exercise(causal, projections):
    trace = cf.explain(SENTENCE, causal=causal, projections=projections)
    attention = trace.subject.model.blocks[0].attention
    x = trace["positioned"]
    matrices = [np.eye(8, dtype=np.float32)] * 3
    if projections == "separate":
        matrices = [getattr(attention, n).weight for n in ("query", "key", "value")]
    mixed, weights = cf.self_attention(np.asarray(x), *matrices, causal=causal)
    np.testing.assert_allclose(trace["blocks.0.attention.weights"], weights, atol=1e-6)
    np.testing.assert_allclose(trace["blocks.0.attention.mixed"], mixed, atol=1e-6)


def test_only_a_causal_lesson_masks():
    assert "blocks.0.attention.masked_scores" not in cf.explain(SENTENCE)
    masked = cf.explain(SENTENCE, causal=True)["blocks.0.attention.masked_scores"]
    assert np.array_equal(np.isneginf(masked[0]), ~np.tri(4, dtype=bool))


def test_layers_that_the_lesson_lacks_are_left_out():
    names = [stage.name for stage in cf.explain(SENTENCE)]
    assert not any("norm" in name for name in names)


def test_a_long_sentence_gets_a_longer_table_of_positions_and_says_so():
    trace = cf.explain(" ".join(f"w{i}" for i in range(30)))
    assert trace["position"].shape == (30, 8)
    assert any("30" in note for note in trace.notes)


@pytest.mark.parametrize("sentence", ["", " ", "\n\t\u3000"])
def test_a_sentence_with_nothing_in_it_is_refused(sentence):
    with pytest.raises(TextError, match="at least one word"):
        cf.explain(sentence)


def test_a_hundred_thousand_words_are_refused():
    with pytest.raises(TextError, match="100,000"):
        cf.explain("word " * 99_999 + "word")


@pytest.mark.parametrize(
    "options",
    [
        {"heads": 3},
        {"embed": 0},
        {"embed": -8},
        {"embed": 10**9},
        {"embed": 10**30},
        {"seed": -1},
        {"projections": "other"},
        {"layer": 1},
        {"layer": -1},
        {"head": 1},
        {"head": True},
    ],
)
def test_what_cannot_be_is_refused(options):
    with pytest.raises(ClearformerError):
        cf.explain(SENTENCE, **options)


def test_an_absurd_width_is_refused_with_the_memory_it_would_need():
    with pytest.raises(ConfigurationError, match="EiB"):
        cf.explain(SENTENCE, embed=10**9)


def test_a_sentence_is_a_string():
    with pytest.raises((ConfigurationError, TypeError)):  # under pytest the annotation refuses it
        cf.explain(5)  # type: ignore[arg-type]


@pytest.mark.parametrize("sentence", ["a", "猫", "¡", "吾輩は猫である。", "<pad> <unk>", "👍🏽 ok"])
def test_any_script_can_be_explained(sentence):
    trace = cf.explain(sentence, embed=7)
    assert trace.subject.tokenizer.decode(trace.ids) == sentence
    assert sum(p for _, p in trace.next) <= 1.0001
