"""Laws of cutting a text: its parts, encoded one by one, give the ids of the whole."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clearformer.errors import TextError
from clearformer.text import KINDS, build_tokenizer
from clearformer.text import cuts as cutting
from clearformer.text.counts import Counts, most_frequent
from clearformer.text.cuts import blocks, sliced
from clearformer.text.tokenizer import tokenizer_class
from text.samples import ENGLISH, JAPANESE, kinds, many_examples, nasty

sizes = st.integers(1, 30)


@pytest.fixture(scope="module")
def tokenizers():
    """One of each kind that knows little, so that much is unknown, too."""
    return {kind: build_tokenizer(kind, ENGLISH + JAPANESE) for kind in KINDS}


@many_examples
@given(kinds, nasty, sizes)
def test_blocks_give_the_ids_of_the_whole(tokenizers, kind, text, size):
    tokenizer = tokenizers[kind]
    parts = list(blocks([text], tokenizer_class(kind).cuts(), size))
    ids = [id for part in parts for id in tokenizer.encode(part).tolist()]
    assert ids == tokenizer.encode(text).tolist()
    assert all(parts)


@many_examples
@given(kinds, nasty, sizes)
def test_blocks_lose_nothing_but_spaces_that_words_imply(tokenizers, kind, text, size):
    parts = list(blocks([text], tokenizer_class(kind).cuts(), size))
    if kind != "words":
        assert "".join(parts) == text
        return
    place = 0
    for part in parts:
        place += not text.startswith(part, place) and text[place] == " "
        assert text.startswith(part, place)
        place += len(part)
    assert place == len(text)


@many_examples
@given(kinds, nasty, sizes)
def test_blocks_know_what_the_whole_knows(kind, text, size):
    """A tokenizer that was made of the blocks is the one that was made of the text."""
    made = tokenizer_class(kind)
    counts = Counts(made.most_pieces)
    for part in blocks([text], made.cuts(), size):
        counts.add(made.count(part))
    assert made.from_counts(counts).fingerprint == made.of(text).fingerprint


@many_examples
@given(kinds, nasty, sizes, st.lists(st.integers(0, 60), max_size=10))
def test_blocks_do_not_depend_on_the_pieces(kind, text, size, places):
    cuts = tokenizer_class(kind).cuts()
    borders = [0, *sorted(place for place in places if place <= len(text)), len(text)]
    pieces = [text[a:b] for a, b in pairwise(borders)]
    assert list(blocks(pieces, cuts, size)) == list(blocks([text], cuts, size))
    assert list(blocks(sliced(text, 3), cuts, size)) == list(blocks([text], cuts, size))


@many_examples
@given(kinds, nasty, st.integers(1, 60))
def test_a_place_to_cut_is_known_from_its_neighbours(tokenizers, kind, text, position):
    """Shards end there; what is before and after them was read by others."""
    tokenizer = tokenizers[kind]
    cut = tokenizer_class(kind).cuts().after(text, position)
    if cut and position < cut[0] < len(text):
        parts = [*tokenizer.encode(text[: cut[0]]), *tokenizer.encode(text[cut[1] :])]
        assert parts == tokenizer.encode(text).tolist()
        near = text[cut[0] - 1 : cut[1] + 1]
        assert tokenizer_class(kind).cuts().after(near, 1) == (1, 1 + cut[1] - cut[0])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("text", [ENGLISH * 50, JAPANESE * 50], ids=["English", "Japanese"])
def test_blocks_of_ordinary_text_are_about_as_long_as_asked(kind, text):
    for part in list(blocks([text], tokenizer_class(kind).cuts(), 100))[:-1]:
        assert 100 <= len(part) <= 140


@pytest.mark.parametrize("run", ["a", "猫", "ね", "!", "\n", "é"])
def test_byte_pairs_cut_even_the_longest_run(run):
    parts = list(blocks(sliced(run * 10_000, 64), tokenizer_class("bytepair").cuts(), 100))
    assert "".join(parts) == run * 10_000
    assert all(len(part) <= 264 for part in parts)


def test_a_run_in_which_words_never_end_is_refused(monkeypatch):
    monkeypatch.setattr(cutting, "LONGEST_RUN", 5_000)
    with pytest.raises(TextError, match="use --tokenizer characters or bytepair"):
        list(blocks(sliced("a" * 10_000, 64), tokenizer_class("words").cuts(), 100))
    assert len(list(blocks(sliced("a" * 4_000, 64), tokenizer_class("words").cuts(), 100))) == 1


# What is counted in the blocks.


def test_counts_are_those_of_all_blocks():
    counts = Counts(10)
    counts.add({"b": 2, "a": 1})
    counts.add({"a": 3, "c": 1})
    assert list(counts.table.items()) == [("b", 2), ("a", 4), ("c", 1)]
    assert not counts.pruned


def test_of_too_many_pieces_the_most_frequent_stay():
    counts = Counts(2)
    counts.add({"a": 1, "b": 5, "c": 1, "d": 4})
    assert not counts.pruned
    counts.add({"e": 1})
    assert (counts.pruned, list(counts.table.items())) == (True, [("b", 5), ("d", 4)])
    assert most_frequent({"a": 1, "b": 2, "c": 1, "d": 1}, 3) == {"a": 1, "b": 2, "c": 1}


@pytest.mark.parametrize("kind", ["words", "bytepair"])
def test_what_is_pruned_does_not_depend_on_the_pieces(kind, monkeypatch):
    made = tokenizer_class(kind)
    monkeypatch.setattr(made, "most_pieces", 300)
    rng = np.random.default_rng(0)
    text = " ".join(f"w{number}" for number in (rng.pareto(0.5, 20_000) * 3).astype(int) % 9999)

    def counted(piece):
        counts = Counts(made.most_pieces)
        for part in blocks(sliced(text, piece), made.cuts(), 1000):
            counts.add(made.count(part))
        return counts

    one, other = counted(17), counted(4096)
    assert one.pruned
    assert len(one.table) <= 600 + 1000
    assert list(one.table.items()) == list(other.table.items())
    assert made.from_counts(one, 290).fingerprint == made.from_counts(other, 290).fingerprint
