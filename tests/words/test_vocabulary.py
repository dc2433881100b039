"""Words and how often they occur."""

import numpy as np
import pytest

from clearformer.errors import ConfigurationError
from clearformer.words.vocabulary import count_words, words_in


def test_words_are_folded_and_what_separates_them_is_left_out():
    assert words_in("The cat's “Hat” — THE 2nd\n\n") == ["the", "cat's", "hat", "the", "2nd"]


def test_japanese_words_are_runs_of_one_script():
    assert words_in("吾輩は猫である。ペンを買う") == [
        *("吾輩", "は", "猫", "である", "ペン", "を", "買", "う"),
    ]


def test_the_most_frequent_come_first_and_the_rare_are_taken_out():
    counted = count_words("b a, b c a b; d", 2)
    assert counted.vocabulary.words == ("b", "a")
    np.testing.assert_array_equal(counted.vocabulary.counts, [3, 2])
    np.testing.assert_array_equal(counted.ids, [0, 1, 0, 1, 0])
    assert counted.left_out == 2


def test_a_word_is_found_however_it_is_written():
    assert count_words("King king queen", 1).vocabulary.id_of("KING") == 0


@pytest.mark.parametrize(
    ("word", "told"),
    [("qeen", "did you mean queen?"), ("xyz", "no other is spelled like it"), ("", "''")],
)
def test_a_word_that_is_not_there_is_told_with_its_like(word, told):
    with pytest.raises(ConfigurationError, match=f"'{word}' is not among the 2 words.*") as found:
        count_words("king king queen", 1).vocabulary.id_of(word)
    assert told in str(found.value)
