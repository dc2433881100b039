"""Laws of sides that take turns in processes of their own."""

import pytest

from clearformer.benchmarking.interleave import Side, measure
from clearformer.errors import ClearformerError


def working(fails_at=None):
    yield "ready"
    number = 0
    while True:
        number += 1
        if number == fails_at:
            raise ValueError("no more")
        yield f"did {number}"


def test_a_side_says_what_it_did_last():
    side = Side(working)
    assert side.about == "ready"
    assert side.take_turn(3) >= 0
    assert side.said == "did 3"
    side.close()


def test_a_side_that_fails_is_told_in_one_line():
    with pytest.raises(ClearformerError, match="one side failed: ValueError: no more"):
        measure({"a": Side(working, fails_at=2)}, turns=2, repeats=1)


def told(seconds):
    yield "ready"
    while True:
        yield seconds


def test_a_side_may_say_itself_which_seconds_count():
    assert measure({"a": Side(told, seconds=1e6)}, turns=2, repeats=3) == {"a": [1e6, 1e6]}


def test_what_lives_in_no_process_of_ours_takes_turns_too():
    shares = []
    taken = measure({"a": Side(working)}, 2, 1, shares.append, {"other": lambda: 7.0})
    assert list(taken) == ["a", "other"]
    assert (taken["other"], len(taken["a"]), len(shares)) == ([7.0, 7.0], 2, 3)


def test_measuring_tells_how_far_it_is():
    shares = []
    taken = measure({"a": Side(working)}, turns=3, repeats=1, progress=shares.append)
    assert shares == [0.0, 0.25, 0.5, 0.75]
    assert len(taken["a"]) == 3
