"""Where the pieces of a whole text begin and end."""

import pytest
from hypothesis import given

from clearformer.text.borders import piece_borders
from clearformer.text.piece_table import points_of
from clearformer.text.pieces import PIECE
from text.samples import many_examples, nasty, real_text


def borders(text: str) -> list[int]:
    return piece_borders(text, points_of(text)).tolist()


def borders_by_the_pattern(text: str) -> list[int]:
    return [0, *(match.end() for match in PIECE.finditer(text))]


@many_examples
@given(nasty)
def test_borders_are_those_of_the_pattern(text: str) -> None:
    assert borders(text) == borders_by_the_pattern(text)


def test_every_character_there_can_be_is_of_the_class_the_pattern_has() -> None:
    every = [*map(chr, [*range(0xD800), *range(0xE000, 0x110000)])]
    for around in ("", "a", "\n", " "):  # which tell letters, signs and blanks from each other
        text = around.join(every)
        assert borders(text) == borders_by_the_pattern(text)


@pytest.mark.parametrize("mark", ["ー", "\u3099", "ー\u3099", "\u3099ー"])
@pytest.mark.parametrize("before", ["ね", "ネ", "a", ""])
def test_a_mark_belongs_to_the_kana_before_it_up_to_the_longest_piece(
    before: str, mark: str
) -> None:
    for count in range(40):
        text = before * count + mark * 20 + "ねネ" + mark
        assert borders(text) == borders_by_the_pattern(text)


@pytest.mark.parametrize("name", ["tiny-shakespeare.txt", "soseki-cat.txt"])
def test_borders_of_a_real_text_are_those_of_the_pattern(name: str) -> None:
    text = real_text(name)
    assert borders(text) == borders_by_the_pattern(text)
