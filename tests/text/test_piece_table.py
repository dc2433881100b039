"""The pieces of a whole text, each different one once."""

from collections import Counter

from hypothesis import given

from clearformer.text.piece_table import PieceTable
from clearformer.text.pieces import PIECE
from text.samples import many_examples, nasty


@many_examples
@given(nasty)
def test_each_different_piece_is_counted_first_seen_first(text: str) -> None:
    counted = PieceTable.of(text).counts(text)
    assert [*counted.items()] == [*Counter(PIECE.findall(text)).items()]


@many_examples
@given(nasty)
def test_the_pieces_in_their_order_are_the_text(text: str) -> None:
    table = PieceTable.of(text)
    different = [*table.counts(text)]
    assert "".join(different[number] for number in table.numbers.tolist()) == text
    assert "".join(map(chr, table.points().tolist())) == "".join(different)
