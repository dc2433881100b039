"""Encoding a long text at once, and a short one piece by piece."""

from unittest.mock import patch

import pytest
from hypothesis import given

from clearformer.text import BytePairs, bytepair_encoding
from clearformer.text.bytepair_encoding import LONG
from text.samples import ENGLISH, JAPANESE, many_examples, nasty, real_text

learned = BytePairs.of(ENGLISH + JAPANESE, 400)


@many_examples
@given(nasty)
def test_all_at_once_gives_the_ids_of_piece_by_piece(text: str) -> None:
    ids = learned._encoder.at_once(text)
    assert ids.tolist() == learned.encode(text).tolist()
    assert ids.dtype == learned.encode(text).dtype


def test_a_long_text_has_the_ids_of_its_lines() -> None:
    line = "吾輩は猫である。I like  models.\n"
    text = line * (2 * LONG // len(line))
    with patch.object(bytepair_encoding, "AT_ONCE", LONG // 3):
        ids = learned.encode(text).tolist()
    assert ids == learned.encode(line).tolist() * (2 * LONG // len(line))


@pytest.mark.parametrize("name", ["tiny-shakespeare.txt", "soseki-cat.txt"])
def test_a_real_text_has_the_ids_of_its_parts(name: str) -> None:
    text = real_text(name)
    tokenizer = BytePairs.of(text[:100_000], 2048)
    ids = tokenizer.encode(text).tolist()
    with patch.object(bytepair_encoding, "LONG", len(text) + 1):
        assert tokenizer.encode(text).tolist() == ids
