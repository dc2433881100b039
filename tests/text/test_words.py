"""One token per word."""

import pytest
from hypothesis import given

from clearformer.errors import TokenizerError
from clearformer.text import build_tokenizer
from clearformer.text.scripts import LONE_SURROGATE
from text.samples import many_examples, raw_texts


def cut(text: str) -> list[str]:
    """The tokens of `text` by a tokenizer that knows them all."""
    tokenizer = build_tokenizer("words", text)
    return [tokenizer.token_text(id) for id in tokenizer.encode(text).tolist()]


def test_the_first_lesson_has_ids_2_3_4_5() -> None:
    tokenizer = build_tokenizer("words", "I like small models")
    assert tokenizer.encode("I like small models").tolist() == [2, 3, 4, 5]
    assert tokenizer.vocabulary_size == 6
    assert [tokenizer.token_text(id) for id in range(6)] == [
        "<pad>",
        "<unk>",
        *("I", "like", "small", "models"),
    ]


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("to be, or not", ["to", "be", ", ", "or", "not"]),
        ("Hear me.\nSpeak", ["Hear", "me", ".\n", "Speak"]),
        (" a", [" ", "a"]),
        ("a ", ["a", " "]),
        ("a  b", ["a", "  ", "b"]),
        (" ", [" "]),
        ("don't 'quote' l’eau", ["don't", " '", "quote", "' ", "l’eau"]),
        ("吾輩は猫である", ["吾輩", "は", "猫", "である"]),
        ("猫 犬", ["猫", " ", "犬"]),
        ("a 猫 b", ["a", " ", "猫", " ", "b"]),
        ("a猫b", ["a", "猫", "b"]),
        ("ラーメンとらーめん", ["ラーメン", "とらーめん"]),
        ("佐々木さん", ["佐々木", "さん"]),
        ("हिन्दी भाषा", ["हिन्दी", "भाषा"]),
        ("한국어 문장", ["한국어", "문장"]),
        ("snake_case _", ["snake_case", "_"]),
        ("1️⃣", ["1", "\ufe0f\u20e3"]),
        ("<unk> <pad>", ["<", "unk", "> <", "pad", ">"]),
    ],
)
def test_a_text_is_cut_into_words_and_separators(text: str, tokens: list[str]) -> None:
    assert cut(text) == tokens


@many_examples
@given(raw_texts)
def test_what_a_person_types_is_never_a_reserved_id(text: str) -> None:
    typed = "x" + text
    tokenizer = build_tokenizer("words", typed)
    reserved = [id for id in tokenizer.encode(typed).tolist() if id < 2]
    assert len(reserved) == sum(tokenizer.unknown(typed).values())
    assert all(LONE_SURROGATE.search(piece) for piece in tokenizer.unknown(typed))


def test_unknown_words_become_unk_and_are_told_in_order() -> None:
    tokenizer = build_tokenizer("words", "I like small models")
    text = "I like big, big models"
    assert tokenizer.encode(text).tolist() == [2, 3, 1, 1, 1, 5]
    assert list(tokenizer.unknown(text).items()) == [("big", 2), (", ", 1)]
    assert tokenizer.decode([2, 3, 1, 5, 0]) == "I like <unk> models"


def test_a_small_vocabulary_keeps_the_frequent_words_in_order_of_first_use() -> None:
    tokenizer = build_tokenizer("words", "once twice thrice twice thrice thrice", 4)
    assert [tokenizer.token_text(id) for id in range(4)] == ["<pad>", "<unk>", "twice", "thrice"]
    assert tokenizer.unknown("once twice") == {"once": 1}


def test_one_endless_word_is_one_word() -> None:
    assert cut("a" * 200_000) == ["a" * 200_000]
    assert len(cut("a'" * 100_000)) == 2


def test_a_text_without_any_character_makes_no_words() -> None:
    with pytest.raises(TokenizerError, match="at least one word"):
        build_tokenizer("words", "\ud800")
