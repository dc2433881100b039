"""Laws of pairs: what a file of them may hold, and how they are parted."""

import numpy as np
import pytest

from clearformer.errors import TextError
from clearformer.text import build_tokenizer
from clearformer.text.pair_ids import LongSide, PairIds, side_by_side
from clearformer.text.pairs import is_held_out, read_pairs, write_pairs

PAIRS = [("3 March 2021", "2021-03-03"), ("令和3年", "2021"), (" a ", "  b"), ("x", "y")]


def test_what_is_written_is_read_again(tmp_path):
    file = tmp_path / "pairs.tsv"
    write_pairs(file, PAIRS)
    found = read_pairs(file)
    assert list(found.pairs) == PAIRS
    assert found.notes == ()
    assert len(found) == 4


@pytest.mark.parametrize("text", ["a\tb\nc\td\n", "a\tb\nc\td", "\ufeffa\tb\r\nc\td\r\n"])
def test_marks_and_ends_of_lines_change_nothing(tmp_path, text):
    file = tmp_path / "pairs.tsv"
    file.write_bytes(text.encode())
    assert read_pairs(file).pairs == (("a", "b"), ("c", "d"))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a\tb\nc\n", "line 2: expected two columns.* got 1 column: 'c'"),
        ("a\tb\tc\n", "line 1: .* got 3 columns: 'a\\\\tb\\\\tc'"),
        ("a\tb\n\nc\td\n", "line 2: .* got an empty line"),
        ("a\tb\n\tc\n", "line 2: .* the source is empty: '\\\\tc'"),
        ("a\tb\nc\t  \n", "line 2: .* the target is empty"),
        ("a\tb\n\t\n", "line 2: .* the source is empty"),
    ],
)
def test_a_line_that_is_no_pair_is_refused_with_its_number(tmp_path, text, said):
    file = tmp_path / "pairs.tsv"
    file.write_text(text)
    with pytest.raises(TextError, match=f"pairs.tsv, {said}") as caught:
        read_pairs(file)
    assert "\n" not in str(caught.value)


def test_a_pair_knows_its_line_in_its_file(tmp_path):
    for name, lines in (("one", 2), ("two", 3)):
        (tmp_path / name).write_text("a\tb\n" * lines)
    found = read_pairs([tmp_path / "one", tmp_path / "two"])
    assert [found.place(n).rpartition("/")[2] for n in range(5)] == [
        "one, line 1", "one, line 2", "two, line 1", "two, line 2", "two, line 3",
    ]  # fmt: skip


@pytest.mark.parametrize("pair", [("a", ""), ("", "a"), ("a\tb", "c"), ("a\nb", "c"), ("a", "b\r")])
def test_what_could_not_be_read_again_is_not_written(tmp_path, pair):
    with pytest.raises(TextError):
        write_pairs(tmp_path / "pairs.tsv", [pair])
    assert not (tmp_path / "pairs.tsv").exists()


def test_equal_sources_are_on_one_side_and_a_tenth_is_held_out(tmp_path):
    file = tmp_path / "pairs.tsv"
    write_pairs(file, [(f"source {n % 2000}", f"target {n}") for n in range(4000)])
    found = read_pairs(file)
    train, held_out = found.split()
    assert sorted([*train, *held_out]) == list(range(4000))
    sides = [{found.pairs[n][0] for n in part} for part in (train, held_out)]
    assert not sides[0] & sides[1]
    assert 0.07 < len(held_out) / 4000 < 0.13


def test_the_parts_are_the_same_in_every_version():
    assert [is_held_out(text) for text in ("a", "3 March 2021", "令和3年3月3日", "g")] == [
        False, False, False, True,
    ]  # fmt: skip


def test_equal_pairs_have_equal_fingerprints(tmp_path):
    for name, lines in (
        ("one", "a\tb\nc\td\n"),
        ("two", "a\tb\r\nc\td"),
        ("other", "a\tb\nc\te\n"),
    ):
        (tmp_path / name).write_bytes(lines.encode())
    one, two, other = (read_pairs(tmp_path / n).fingerprint for n in ("one", "two", "other"))
    assert one == two != other


def test_ids_of_each_side_are_those_of_the_tokenizer():
    tokenizer = build_tokenizer("characters", "".join(a + b for a, b in PAIRS))
    ids = PairIds.of(tokenizer, PAIRS)
    for number, (source, target) in enumerate(PAIRS):
        assert tokenizer.decode(ids.sources.text(number)) == source
        assert tokenizer.decode(ids.targets.text(number)) == target
    assert len(ids) == 4
    assert ids.tokens == sum(len(target) + 1 for _, target in PAIRS)
    assert len(PairIds.of(tokenizer, [])) == 0


def test_rows_are_filled_up_behind_their_end():
    texts = LongSide(np.array([5, 6, 7], np.uint8), np.array([0, 1, 3]))
    rows = [texts.text(0), texts.text(1)]
    table, lengths = side_by_side(rows, 9)
    assert table.tolist() == [[5, 9, 9], [6, 7, 9]]
    assert lengths.tolist() == [2, 3]
    told, counted = side_by_side(rows, 9, 8)
    assert told.tolist() == [[8, 5, 9], [8, 6, 7]]
    assert counted.tolist() == [2, 3]
