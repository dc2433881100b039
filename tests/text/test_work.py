"""No text costs more than its length: the work of tokenizers is counted, not timed."""

import sys
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clearformer.text import bytepair_learning
from clearformer.text.bytepair_encoding import Encoder
from clearformer.text.pieces import LONGEST_PIECE
from clearformer.text.stream import TextStream
from clearformer.text.tokenizer import build_tokenizer

UNITS = (
    "a", "ab", "abcdefghijklmnopqrstuvwxyz", "a'", "'", "_", "1", "!", " ", "\n", "\r\n", "a ",
    "\t", "猫", "の", "ア", "ー", "が", "\u3099", "猫の", "👩", "👩‍🚀", "e\u0301", "猫\ufe0f", "ß",
    "\u3000",
)  # fmt: skip

runs = st.sampled_from(UNITS) | st.text("ab '猫のア1!\n", min_size=1, max_size=5)


def calls_of(function) -> int:
    """How many functions, Python's own too, are called meanwhile."""
    count = 0

    def look(frame, event, argument):
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(look)
    try:
        function()
    finally:
        sys.setprofile(before)
    return count


def there_and_back(kind: str, text: str) -> None:
    made = build_tokenizer(kind, text, 300)
    ids = made.encode(text)
    made.unknown(text)
    assert made.decode(ids) == text
    stream = TextStream(made)
    assert "".join(map(stream.feed, ids[:200].tolist())) + stream.finish()


@settings(max_examples=25, deadline=None)
@given(run=runs)
@pytest.mark.parametrize("kind", ["characters", "words", "bytepair"])
def test_a_run_four_times_as_long_takes_at_most_four_times_the_calls(kind: str, run: str) -> None:
    short, long = run * (2_000 // len(run)), run * (8_000 // len(run))
    there_and_back(kind, short)  # what is made once is made
    once = calls_of(lambda: there_and_back(kind, short))
    assert calls_of(lambda: there_and_back(kind, long)) <= 4.5 * once + 1_000


@settings(max_examples=25, deadline=None)
@given(run=runs)
def test_merging_is_quadratic_in_a_piece_and_pieces_are_short(run: str) -> None:
    text = run * (8_000 // len(run))
    size = len(text.encode("utf-8"))
    given_to_learn, merged = [], []
    spelled, merge = bytepair_learning._spelled, Encoder._merged

    def heard(counts):
        for part in spelled(counts):
            given_to_learn.append(part)
            yield part

    def watched(self, piece):
        merged.append(len(piece.encode("utf-8")))
        return merge(self, piece)

    with (
        patch.object(bytepair_learning, "_spelled", heard),
        patch.object(Encoder, "_merged", watched),
    ):
        there_and_back("bytepair", text)
    pieces = "".join(given_to_learn).split(bytepair_learning.BETWEEN)
    assert max(map(len, pieces)) <= LONGEST_PIECE
    assert sum(map(len, pieces)) == size  # what is learned from is the text, once
    assert sum(length**2 for length in merged) <= LONGEST_PIECE * size
