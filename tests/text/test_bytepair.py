"""Byte pair encoding."""

import tracemalloc
from functools import cache
from typing import Any

import pytest
from hypothesis import given

from clearformer.errors import TokenizerError
from clearformer.text import BytePairs, build_tokenizer
from clearformer.text.bytepair_encoding import AT_ONCE, LONG, REMEMBERED
from clearformer.text.pieces import PATTERN, PIECE
from text.merged_by_hand import merged_by_hand
from text.samples import ENGLISH, JAPANESE, many_examples, raw_texts, texts

learned = BytePairs.of(ENGLISH + JAPANESE, 400)


def test_the_first_256_ids_are_the_bytes() -> None:
    assert [learned.token_bytes(id) for id in range(256)] == [bytes([byte]) for byte in range(256)]


def test_the_first_merge_is_the_most_frequent_pair() -> None:
    tokenizer = build_tokenizer("bytepair", "abab abab cd")
    assert tokenizer.token_bytes(256) == b"ab"
    assert tokenizer.encode("ab").tolist() == [256]


@many_examples
@given(texts)
def test_encoding_is_what_the_definition_says(text: str) -> None:
    merges = learned.to_json()["merges"]
    assert isinstance(merges, list)
    by_hand = [
        token for piece in PIECE.findall(text) for token in merged_by_hand(piece.encode(), merges)
    ]
    assert [learned.token_bytes(id) for id in learned.encode(text).tolist()] == by_hand


@cache
def in_the_library() -> Any:
    """`learned` as anyone would write it with the `tokenizers` library alone."""
    from tokenizers import Regex, Tokenizer
    from tokenizers.models import BPE
    from tokenizers.pre_tokenizers import ByteLevel, Sequence, Split

    # The library moves bytes that cannot be printed beyond 255.
    printable = {*range(33, 127), *range(161, 173), *range(174, 256)}
    moved = [byte for byte in range(256) if byte not in printable]
    letters = [chr(byte if byte in printable else 256 + moved.index(byte)) for byte in range(256)]
    spelled = [
        "".join(letters[byte] for byte in learned.token_bytes(id))
        for id in range(learned.vocabulary_size)
    ]
    merges = learned.to_json()["merges"]
    assert isinstance(merges, list)
    library = Tokenizer(
        BPE(
            vocab={token: id for id, token in enumerate(spelled)},
            merges=[(spelled[left], spelled[right]) for left, right in merges],
        )
    )
    library.pre_tokenizer = Sequence(
        [Split(Regex(PATTERN), "isolated"), ByteLevel(add_prefix_space=False, use_regex=False)]
    )
    return library


@many_examples
@given(texts)
def test_encoding_agrees_with_the_tokenizers_library_at_once(text: str) -> None:
    assert learned.encode(text).tolist() == in_the_library().encode(text).ids


@many_examples
@given(raw_texts)
def test_only_lone_surrogates_are_unknown(text: str) -> None:
    clean = "".join("\ufffd" if "\ud800" <= each <= "\udfff" else each for each in text)
    assert learned.decode(learned.encode(text)) == clean
    assert "".join(learned.unknown(text)) == "".join(
        dict.fromkeys(each for each in text if "\ud800" <= each <= "\udfff")
    )


def test_a_control_token_that_a_person_types_is_text() -> None:
    tokenizer = build_tokenizer("bytepair", "<|endoftext|>" * 50 + "[PAD]<s></s>" * 50)
    for typed in ("<|endoftext|>", "<s>", "[PAD]", "<unk>"):
        ids = tokenizer.encode(typed)
        assert len(ids) > 1
        assert tokenizer.decode(ids) == typed


def test_part_of_a_character_is_shown_as_bytes() -> None:
    assert learned.token_text(0xE3) == "<0xE3>"
    assert learned.token_text(ord("a")) == "a"
    tokenizer = BytePairs([(ord("a"), 0xE3), (256, 0x81), (0x82, ord("b"))])
    assert [tokenizer.token_text(id) for id in (256, 257, 258)] == [
        "a<0xE3>",
        "a<0xE3><0x81>",
        "<0x82>b",
    ]


def test_a_text_bears_only_so_many_tokens() -> None:
    tokenizer = build_tokenizer("bytepair", "abcdefg", 900_000)
    assert tokenizer.vocabulary_size == 256  # no pair occurs twice
    assert build_tokenizer("bytepair", "abab", 900_000).vocabulary_size == 257


@pytest.mark.parametrize("one", ["a", "漢", "あ", "ー", " ", "\n", "^", "1", "😀", "\u0301"])
def test_200_000_of_one_character_come_back(one: str) -> None:
    text = one * 200_000
    tokenizer = build_tokenizer("bytepair", text)
    ids = tokenizer.encode(text)
    assert tokenizer.decode(ids) == text
    assert len(ids) <= len(text) / 2


def test_the_memory_of_learning_and_encoding_is_that_of_the_pieces_and_the_ids() -> None:
    words = "".join(f"{word}th " for word in range(1000))
    peaks = []
    for times in (2, 6):  # so many times what is counted and encoded at once
        text = words * (times * AT_ONCE // len(words) + 1)
        tracemalloc.start()
        try:
            tokenizer = build_tokenizer("bytepair", text, 300)
            peaks.append(tracemalloc.get_traced_memory()[1])
        finally:
            tracemalloc.stop()
        assert tokenizer.decode(tokenizer.encode(text)) == text
    assert peaks[1] < 1.25 * peaks[0]


def test_forgetting_pieces_changes_nothing() -> None:
    tokenizer = build_tokenizer("bytepair", "0123456789 " * 3)
    text = "".join(f"{number}a" for number in range(LONG // 8))
    assert len(text) < LONG  # longer ones are not encoded piece by piece
    fresh, remembered = tokenizer.encode(text), tokenizer._encoder._remembered
    remembered.clear()
    remembered.update(dict.fromkeys(map(str, range(-REMEMBERED, 0)), b""))
    assert (tokenizer.encode(text) == fresh).all()
    assert len(remembered) < REMEMBERED


def test_merges_that_spell_the_same_share_an_id() -> None:
    a, b, c = b"abc"
    tokenizer = BytePairs([(a, b), (256, c), (b, c), (a, 258)])
    assert [tokenizer.token_bytes(id) for id in range(256, tokenizer.vocabulary_size)] == [
        b"ab",
        b"abc",
        b"bc",
    ]
    assert tokenizer.encode("abc").tolist() == [257]


def test_a_merge_of_what_is_not_there_yet_is_refused() -> None:
    for merges in ([(256, 0)], [(-1, 0)], [(0, 1), (0, 1)]):
        with pytest.raises(TokenizerError, match="merge"):
            BytePairs(merges)
