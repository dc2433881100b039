"""One token per character."""

import pytest

from clearformer.errors import TokenizerError
from clearformer.text import Characters, build_tokenizer
from clearformer.text.characters import CHUNK
from text.samples import real_text


def test_ids_follow_the_order_of_code_points() -> None:
    tokenizer = build_tokenizer("characters", "b😀あa\nb")
    assert [tokenizer.token_text(id) for id in range(5)] == ["\n", "a", "b", "あ", "😀"]
    assert tokenizer.encode("aあ😀").tolist() == [1, 3, 4]


def test_unknown_characters_are_left_out_and_told() -> None:
    tokenizer = build_tokenizer("characters", "abc")
    assert tokenizer.encode("zaxbzあ😀").tolist() == [0, 1]
    assert list(tokenizer.unknown("zaxbzあ😀").items()) == [
        ("z", 2),
        ("x", 1),
        ("あ", 1),
        ("😀", 1),
    ]


def test_a_chunk_ends_nowhere_in_particular() -> None:
    text = "ab😀" * CHUNK
    tokenizer = build_tokenizer("characters", text)
    assert tokenizer.decode(tokenizer.encode(text)) == text
    missing = ("x" * (CHUNK - 1) + "y" + "z") * 2
    assert list(tokenizer.unknown(missing).items()) == [("x", 2 * CHUNK - 2), ("y", 2), ("z", 2)]


def test_half_a_surrogate_pair_is_no_character() -> None:
    tokenizer = build_tokenizer("characters", "a\ud83db")
    assert tokenizer.vocabulary_size == 2
    assert list(tokenizer.unknown("a\ud83d\ude00").items()) == [("\ud83d", 1), ("\ude00", 1)]
    assert tokenizer.encode("a\ud83d").tolist() == [0]
    with pytest.raises(TokenizerError, match="at least one"):
        build_tokenizer("characters", "\ud83d")


def test_a_vocabulary_is_distinct_and_ascending() -> None:
    for characters in ("", "ba", "aa", "a\udc00"):
        with pytest.raises(TokenizerError):
            Characters(characters)


def test_shakespeare_has_65_characters() -> None:
    tokenizer = build_tokenizer("characters", real_text("tiny-shakespeare.txt"))
    assert tokenizer.vocabulary_size == 65
    assert tokenizer.token_text(0) == "\n"
