"""`<mask>` is one token where it is read so; what stands beside it is cut as if one stood there."""

import pytest

from clearformer.text.tokenizer import build_tokenizer
from clearformer.text.with_mask import MASK, WithMask, pieces_between_masks

TEXT = "The cat sat on the mat, the dog ran to the cat. Is it red? It is. 猫は猫である。 " * 3

KINDS = ("characters", "words", "bytepair")


def reader(kind):
    return WithMask(build_tokenizer(kind, TEXT, 300 if kind == "bytepair" else None))


@pytest.mark.parametrize("kind", KINDS)
def test_without_a_mask_it_is_the_tokenizer(kind):
    with_mask = reader(kind)
    ids = with_mask.encode(TEXT)
    assert ids.tolist() == with_mask.tokenizer.encode(TEXT).tolist()
    assert with_mask.decode(ids) == TEXT
    assert with_mask.mask == with_mask.tokenizer.vocabulary_size == with_mask.vocabulary_size - 1


@pytest.mark.parametrize("kind", KINDS)
def test_a_mask_takes_the_place_of_exactly_one_token(kind):
    """Wherever in the text: the ids around it are those of the text with the token."""
    with_mask, text = reader(kind), "The cat sat on the mat, the dog ran. 猫は猫である。 It is"
    whole = with_mask.tokenizer.encode(text).tolist()
    for place in range(len(whole)):
        hidden = [*whole[:place], with_mask.mask, *whole[place + 1 :]]
        shown = with_mask.decode(hidden)
        assert shown.count(MASK) == 1
        before = with_mask.tokenizer.token_text(whole[place - 1]) if place else ""
        if before != " ":  # which would be taken for the beginning of the token
            assert with_mask.encode(shown).tolist() == hidden
        assert with_mask.filled(shown, [whole[place]]) == text


@pytest.mark.parametrize(
    ("kind", "text"), [("words", "The <mask> sat"), ("bytepair", "The <mask>")]
)
def test_a_space_before_a_mask_is_not_a_token_of_its_own(kind, text):
    ids = reader(kind).encode(text).tolist()
    assert len(ids) == len(text.split())
    assert ids[1] == reader(kind).mask


def test_spaces_between_masks_of_words_are_implied():
    with_mask = reader("words")
    cat, sat = with_mask.tokenizer.encode("cat sat").tolist()
    assert with_mask.encode("The <mask> <mask> on").tolist()[1:3] == [with_mask.mask] * 2
    assert with_mask.filled("The <mask> <mask> on", [cat, sat]) == "The cat sat on"


@pytest.mark.parametrize("kind", KINDS)
def test_what_the_vocabulary_lacks_stays_as_it_was_written(kind):
    with_mask = reader(kind)
    (cat, *_) = with_mask.tokenizer.encode("cat" if kind == "words" else "c").tolist()
    filled = with_mask.filled("Żebra <mask> ☃ \\<mask>", [cat])
    assert filled.startswith("Żebra")
    assert filled.endswith(" ☃ <mask>")
    assert MASK not in with_mask.unknown("The <mask> sat")


def test_a_backslash_makes_it_plain_text():
    assert pieces_between_masks(r"a <mask>\<mask><mask>") == ["a ", "<mask>", ""]
    assert pieces_between_masks("plain <MASK> < mask>") == ["plain <MASK> < mask>"]
