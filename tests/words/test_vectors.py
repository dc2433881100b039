"""Cosines, analogies and the map: what they are, for vectors that are known."""

import numpy as np
import pytest

import clearformer as cf
from clearformer.errors import ConfigurationError
from clearformer.words.options import WordOptions
from clearformer.words.vocabulary import Vocabulary


def made(rows: dict[str, list[float]]) -> cf.WordVectors:
    table = np.array([*rows.values()], float)
    counts = np.arange(len(rows), 0, -1)
    options = WordOptions(embed=table.shape[1])
    return cf.WordVectors(Vocabulary(tuple(rows), counts), table, options, 1.0)


def test_near_are_the_largest_cosines_whatever_the_lengths():
    vectors = made({"a": [1, 0], "b": [10, 10], "c": [0.1, 0.001], "d": [-5, 0]})
    (first, near), (second, at_45), (third, opposite) = vectors.near("a", 3)
    assert (first, second, third) == ("c", "b", "d")
    assert (near, at_45, opposite) == pytest.approx((1, 0.5**0.5, -1), abs=1e-4)


def test_an_analogy_is_the_difference_carried_over_without_the_three_themselves():
    people = {"man": [1, 0, 0], "king": [1, 1, 0], "woman": [1, 0, 1], "queen": [1, 1, 1]}
    vectors = made({**people, "beggar": [1, -1, 0], "beggar woman": [1, -1, 1]})
    found = [word for word, _ in vectors.analogy("man", "king", "woman")]
    assert found == ["queen", "beggar woman", "beggar"]
    assert vectors.analogy("king", "man", "queen", count=1)[0][0] == "woman"


def test_a_vector_of_zeros_is_near_to_nothing():
    assert made({"a": [0, 0], "b": [1, 1]}).near("a") == [("b", 0.0)]


def test_the_map_keeps_distances_that_lie_in_a_plane(rng):
    """Of directions on a tilted circle nothing is lost by two coordinates."""
    plane = np.linalg.qr(rng.normal(size=(5, 2)))[0]
    angles = rng.uniform(0, 6, 7)
    rows = np.stack([np.cos(angles), np.sin(angles)], 1) @ plane.T
    found = made({f"w{n}": row.tolist() for n, row in enumerate(rows)}).map()
    apart = np.linalg.norm(rows[:, None] - rows, axis=-1)
    np.testing.assert_allclose(np.linalg.norm(found[:, None] - found, axis=-1), apart, 1e-9, 1e-9)


def test_the_map_is_the_same_for_the_same_words(vectors):
    np.testing.assert_array_equal(vectors.map(), vectors.map())
    assert vectors.map(vectors.words[:5]).shape == (5, 2)
    spread = vectors.map().var(0)
    assert spread[0] > spread[1] > 0


def test_a_word_stands_for_its_vector(vectors):
    np.testing.assert_array_equal(vectors["FRUITA"], vectors.vectors[vectors.words.index("fruita")])
    assert "fruita" in vectors
    assert "pear" not in vectors
    assert len(vectors) == len(vectors.words)
    assert repr(vectors) == f"WordVectors({len(vectors)} words, 16 numbers each)"


@pytest.mark.parametrize("count", [0, -1])
def test_a_count_below_one_is_refused(vectors, count):
    with pytest.raises(ConfigurationError, match="count"):
        vectors.near("fruita", count)


def test_more_than_there_are_gives_all_others(vectors):
    assert len(vectors.near("fruita", 10**6)) == len(vectors) - 1


def test_a_map_of_one_word_is_refused(vectors):
    with pytest.raises(ConfigurationError, match="two words"):
        vectors.map(["fruita"])
