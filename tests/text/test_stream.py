"""Text that comes token by token."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clearformer.errors import TokenizerError
from clearformer.text import TextStream, Tokenizer, build_tokenizer
from text.samples import many_examples, texts, tokenizers

learned = tokenizers()


def streamed(tokenizer: Tokenizer, ids: list[int]) -> list[str]:
    stream = TextStream(tokenizer)
    return [*map(stream.feed, ids), stream.finish()]


@many_examples
@given(st.data(), st.sampled_from(learned))
def test_pieces_of_any_ids_are_what_decoding_gives(
    data: st.DataObject, tokenizer: Tokenizer
) -> None:
    low = data.draw(st.sampled_from([0, 0x80])) % tokenizer.vocabulary_size
    ids = data.draw(st.lists(st.integers(low, tokenizer.vocabulary_size - 1), max_size=30))
    assert "".join(streamed(tokenizer, ids)) == tokenizer.decode(ids)


@many_examples
@given(st.sampled_from(learned), texts)
def test_pieces_of_a_text_are_what_decoding_gives(tokenizer: Tokenizer, text: str) -> None:
    ids = tokenizer.encode(text).tolist()
    assert "".join(streamed(tokenizer, ids)) == tokenizer.decode(ids)


@many_examples
@given(texts.filter(bool))
def test_every_piece_of_a_text_is_whole_characters(text: str) -> None:
    tokenizer = build_tokenizer("bytepair", "a", 256)  # one token per byte: the worst case
    pieces = streamed(tokenizer, tokenizer.encode(text).tolist())
    assert [piece for piece in pieces if piece] == list(text)
    assert pieces[-1] == ""


def test_a_character_waits_until_it_is_complete() -> None:
    tokenizer = build_tokenizer("bytepair", "a", 256)
    assert streamed(tokenizer, list("猫a".encode())) == ["", "", "猫", "a", ""]
    assert streamed(tokenizer, list("猫".encode()[:2])) == ["", "", "\ufffd"]
    assert streamed(tokenizer, [0xE7, ord("a")]) == ["", "\ufffda", ""]


def test_the_space_between_words_comes_with_the_second() -> None:
    tokenizer = build_tokenizer("words", "I like 猫, small 猫")
    ids = tokenizer.encode("I like 猫, small 猫").tolist()
    assert streamed(tokenizer, ids) == ["I", " like", " ", "猫", ", ", "small", " ", "猫", ""]


def test_a_finished_stream_starts_afresh() -> None:
    tokenizer = build_tokenizer("words", "I like")
    stream = TextStream(tokenizer)
    assert [stream.feed(2), stream.finish(), stream.feed(3)] == ["I", "", "like"]


@pytest.mark.parametrize("tokenizer", learned, ids=lambda each: each.kind)
def test_an_id_out_of_range_is_refused_and_changes_nothing(tokenizer: Tokenizer) -> None:
    stream = TextStream(tokenizer)
    first = stream.feed(5)
    for id in (-1, tokenizer.vocabulary_size):
        with pytest.raises(TokenizerError):
            stream.feed(id)
    assert first + stream.feed(6) + stream.finish() == tokenizer.decode([5, 6])
