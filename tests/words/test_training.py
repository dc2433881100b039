"""What is learned from a text whose rules are known."""

import numpy as np
import pytest

import clearformer as cf
from clearformer.errors import ConfigurationError, NotFiniteError, TextError
from clearformer.words.options import WordOptions
from clearformer.words.training import fit
from clearformer.words.vocabulary import count_words
from words.grammars import CLASSES, PEOPLE, classes, people

SHORT = WordOptions(embed=8, window=2, epochs=2)


@pytest.mark.parametrize("name", CLASSES)
def test_words_used_alike_are_nearest_to_each_other(vectors, name):
    for word in CLASSES[name]:
        mates = {*CLASSES[name]} - {word}
        assert {found for found, _ in vectors.near(word, 3)} == mates


def test_analogies_hold_where_the_traits_of_words_add_up():
    vectors = cf.word_vectors(people(), embed=16, window=2, epochs=5, threshold=1.0)
    for first in ("ruler", "child", "farmer"):
        for second in {"ruler", "child", "farmer"} - {first}:
            he, she, third = PEOPLE["he", first], PEOPLE["she", first], PEOPLE["he", second]
            ((found, _),) = vectors.analogy(he, she, third, count=1)
            assert found == PEOPLE["she", second]


def test_the_loss_falls_below_that_of_who_knows_nothing(vectors):
    nothing = (1 + vectors.options.negatives) * np.log(2)
    assert vectors.loss < 0.8 * nothing


def test_the_same_seed_gives_the_same_bits():
    counted = count_words(classes(200), 5)
    first, again = (fit(counted, SHORT) for _ in range(2))
    np.testing.assert_array_equal(first.vectors, again.vectors)
    other = fit(counted, WordOptions(embed=8, window=2, epochs=2, seed=1))
    assert not np.array_equal(first.vectors, other.vectors)
    assert first.vectors.dtype == np.float32


@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float64, 1e-9), (np.float32, 2e-2)])
def test_both_engines_learn_the_same_numbers(dtype, tolerance):
    """In float32 roundings grow where a number is divided by the root of its own small square."""
    pytest.importorskip("torch", reason="comparing with PyTorch needs PyTorch (extra torch)")
    counted = count_words(classes(200), 5)
    ours = fit(counted, SHORT, dtype=dtype)
    theirs = fit(counted, SHORT, engine="torch", device="cpu", dtype=dtype)
    assert theirs.vectors.dtype == dtype
    np.testing.assert_allclose(theirs.vectors, ours.vectors, tolerance, tolerance)
    assert theirs.loss == pytest.approx(ours.loss, rel=tolerance)


def test_progress_rises_to_one():
    shares: list[float] = []
    cf.word_vectors(classes(200), embed=8, epochs=2, progress=shares.append)
    assert shares == sorted(shares)
    assert shares[-1] == 1


def test_a_text_comes_as_a_string_a_file_or_several(tmp_path):
    text = classes(100)
    (tmp_path / "one.txt").write_text(text + "\n", "utf-8")
    (tmp_path / "half.txt").write_text(text[:1000], "utf-16")
    dials = {"embed": 4, "epochs": 1, "least": 1}
    found = cf.word_vectors(text, **dials)
    of_file = cf.word_vectors(tmp_path / "one.txt", **dials)
    np.testing.assert_array_equal(found.vectors, of_file.vectors)
    both = cf.word_vectors([tmp_path / "one.txt", tmp_path / "one.txt"], **dials)
    assert both.vocabulary.counts.sum() == 2 * found.vocabulary.counts.sum()
    half = cf.word_vectors(tmp_path / "half.txt", encoding="utf-16", **dials)
    assert len(half) > 2


def test_a_learning_rate_that_is_far_too_large_is_told():
    with pytest.raises(NotFiniteError, match="--learning-rate"):
        fit(count_words(classes(200), 5), WordOptions(embed=8, learning_rate=1e6, epochs=40),
            dtype=np.float16)  # fmt: skip


@pytest.mark.parametrize(
    ("dials", "told"),
    [
        ({"embed": 1}, "embed must be a whole number between 2 and 10,000; got 1"),
        ({"window": 0}, "window"),
        ({"window": 10**9}, "window"),
        ({"negatives": True}, "negatives"),
        ({"least": 0}, "least"),
        ({"epochs": 0}, "epochs"),
        ({"seed": -1}, "seed"),
        ({"learning_rate": float("nan")}, "learning_rate"),
        ({"threshold": 0.0}, "threshold"),
        ({"engine": "jax"}, "engine"),
    ],
)
def test_impossible_dials_are_refused(dials, told):
    with pytest.raises(ConfigurationError, match=told):
        cf.word_vectors("some words, and more words", **dials)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("a b c d e f", "fewer than two words occur at least 5 times in this text of 6 words"),
        ("word word word word word word", "at least two different words; got 1"),
        ("... !!! ... --- ...", "at least two different words; got 0"),
        ("", "empty"),
        ("novel.txt", "novel.txt"),
    ],
)
def test_a_text_with_too_few_words_is_refused(text, told):
    with pytest.raises(TextError, match=told):
        cf.word_vectors(text)


def test_two_words_are_enough():
    vectors = cf.word_vectors("yes no " * 5, embed=2, epochs=1)
    assert vectors.near("yes")[0][0] == "no"
    assert vectors.map().shape == (2, 2)
