"""Where byte pairs may not merge across."""

import pytest
from hypothesis import given

from clearformer.text.pieces import LONGEST_PIECE, PATTERN, PIECE
from text.samples import many_examples, texts


@many_examples
@given(texts)
def test_pieces_are_the_text_and_none_is_long(text: str) -> None:
    pieces = PIECE.findall(text)
    assert "".join(pieces) == text
    assert all(0 < len(piece.encode("utf-8")) <= LONGEST_PIECE for piece in pieces)


def test_every_character_there_can_be_is_in_a_piece() -> None:
    text = "".join(map(chr, [*range(0xD800), *range(0xE000, 0x110000)]))
    assert sum(map(len, PIECE.findall(text))) == len(text)


@many_examples
@given(texts)
def test_a_cut_between_pieces_changes_no_piece(text: str) -> None:
    pieces = PIECE.findall(text)
    for number in range(len(pieces)):
        assert PIECE.findall("".join(pieces[:number])) == pieces[:number]
        assert PIECE.findall("".join(pieces[number:])) == pieces[number:]


@many_examples
@given(texts)
def test_the_pattern_means_the_same_to_the_tokenizers_library(text: str) -> None:
    from tokenizers import Regex
    from tokenizers.pre_tokenizers import Split

    cut = Split(Regex(PATTERN), "isolated").pre_tokenize_str(text)
    assert [piece for piece, _ in cut] == PIECE.findall(text)


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("I like  models.\n\n", ["I", " like", "  ", "models", ".\n\n"]),
        ("don't 12345", ["don", "'t", " 123", "45"]),
        ("吾輩は猫である。", ["吾輩", "は", "猫", "である", "。"]),
        ("らーめんとラーメン", ["らーめんと", "ラーメン"]),
        ("<|endoftext|>", ["<|", "endoftext", "|>"]),
        ("हिन्दी", ["हिन्दी"]),
        ("東京特許許可局", ["東京特許", "許可局"]),
    ],
)
def test_pieces_follow_words_and_scripts(text: str, pieces: list[str]) -> None:
    assert PIECE.findall(text) == pieces
