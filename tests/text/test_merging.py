"""The merges of many pieces at once."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clearformer.text.merging import Merging
from text.merged_by_hand import merged_by_hand, spelled
from text.samples import many_examples

A, B, C, W, X = b"abcwx"


def merged(merges: list[tuple[int, int]], pieces: list[str]) -> list[list[bytes]]:
    tokens, made = spelled(merges)
    points = np.array([*map(ord, "".join(pieces))], np.uint32)
    ids, sizes = Merging(merges, made)(points, np.array([*map(len, pieces)]))
    parts = np.split(ids, np.cumsum(sizes)[:-1])
    return [[tokens[id] for id in part.tolist()] for part in parts]


@st.composite
def lists_of_merges(draw: st.DrawFn) -> list[tuple[int, int]]:
    """Any that are allowed; many make what others made before."""
    ids = [A, B, 0xE3, 0x81]
    found: list[tuple[int, int]] = []
    for _ in range(draw(st.integers(0, 12))):
        pair = draw(st.tuples(st.sampled_from(ids), st.sampled_from(ids)))
        if pair in found:
            continue
        found.append(pair)
        ids = [*ids[:4], *range(256, len(spelled(found)[0]))]
    return found


pieces = st.lists(st.text("abぁあ", min_size=1, max_size=10), min_size=1, max_size=4)


@many_examples
@given(lists_of_merges(), pieces)
def test_merging_at_once_is_what_the_definition_says(
    merges: list[tuple[int, int]], pieces: list[str]
) -> None:
    by_hand = [merged_by_hand(piece.encode(), merges) for piece in pieces]
    assert merged(merges, pieces) == by_hand


@pytest.mark.parametrize(
    ("merges", "piece", "tokens"),
    [
        ([(A, A)], "aaaaa", "aa aa a"),
        ([(A, B), (256, C), (B, C), (A, 258)], "abc", "abc"),
        ([(B, C), (A, B)], "abc", "a bc"),
        # what two make: "abc" of "a" and "bc" is made last, when "x" is taken, which it could use
        ([(B, C), (A, B), (257, C), (X, 258), (W, X), (A, 256)], "wxabc", "wx abc"),
        # b may not go with c, although ab is not there yet: ca and then cab come before it
        ([(C, A), (256, B), (B, C)], "cabc", "cab c"),
        ([(B, C), (C, A), (256, 257)], "bcca", "bcca"),
    ],
)
def test_what_was_learned_first_comes_first(
    merges: list[tuple[int, int]], piece: str, tokens: str
) -> None:
    assert b" ".join(merged(merges, [piece])[0]).decode() == tokens


@pytest.mark.parametrize(
    "merges", [[(A, 0xE3), (0xE3, 0x81)], [(0x81, A), (0x81, 0x81)], [(0x81, 0xE3), (0x81, 0x81)]]
)
def test_a_part_of_a_character_may_go_with_what_is_beside_it(merges: list[tuple[int, int]]) -> None:
    piece = "aぁaぁぁ"
    assert merged(merges, [piece]) == [merged_by_hand(piece.encode(), merges)]
