"""A second thread is tried, kept where it helps, and tried again later."""

from itertools import pairwise

from clearformer.engines.numpy.compiled.pace import (
    ALONE,
    FIRST_BREAK,
    KEEP,
    LONGEST_BREAK,
    TOGETHER,
    Pace,
)

TRIED = ALONE + TOGETHER


def how(pace: Pace, alone: float, together: float, works: int) -> list[bool]:
    """How each piece of work was done, where they take so long."""
    done = []
    for _ in range(works):
        done.append(pace.together)
        pace.took(together if pace.together else alone)
    return done


def test_a_second_thread_that_helps_is_kept_until_the_next_trial():
    done = how(Pace(), alone=2.0, together=1.0, works=2 * TRIED + 2 * KEEP)
    cycle = ALONE * [False] + TOGETHER * [True] + KEEP * [True]
    assert done == 2 * cycle


def test_one_that_does_not_help_is_left_alone():
    done = how(Pace(), alone=1.0, together=0.999, works=TRIED + FIRST_BREAK)
    assert done == ALONE * [False] + TOGETHER * [True] + FIRST_BREAK * [False]


def test_a_trial_ends_once_it_has_cost_more_than_going_alone():
    """A thread that is waited for in vain takes a thousand times as long."""
    done = how(Pace(), alone=1.0, together=1000.0, works=ALONE + 1 + FIRST_BREAK)
    assert done == ALONE * [False] + [True] + FIRST_BREAK * [False]


def test_what_is_in_vain_is_tried_ever_more_seldom():
    done = how(Pace(), alone=1.0, together=1000.0, works=40 * LONGEST_BREAK)
    tries = [place for place, together in enumerate(done) if together]
    breaks = [after - before - 1 - ALONE for before, after in pairwise(tries)]
    assert breaks[:3] == [FIRST_BREAK, 2 * FIRST_BREAK, 4 * FIRST_BREAK]
    assert set(breaks[8:]) == {LONGEST_BREAK}


def test_what_changes_is_found_out():
    pace = Pace()
    how(pace, alone=1.0, together=9.0, works=ALONE + 1 + FIRST_BREAK)
    assert how(pace, alone=1.0, together=0.5, works=TRIED + 1)[-1]


def held_up(seconds: float, at: int, works: int) -> list[float]:
    """Seconds of so many pieces of work, of which one takes a hundred times as long."""
    return [100 * seconds if place == at else seconds for place in range(works)]


def test_one_piece_that_is_held_up_decides_nothing():
    for at in range(ALONE):
        pace = Pace()
        for seconds in held_up(1.0, at, ALONE):
            pace.took(seconds)
        assert how(pace, alone=1.0, together=0.999, works=TOGETHER + 1)[-1] is False
    for late in range(TOGETHER):
        pace = Pace()
        how(pace, alone=1.0, together=0.0, works=ALONE)
        for place in range(TOGETHER):
            pace.took(2.0 if place == late else 0.5)
        assert pace.together


def test_what_becomes_far_slower_together_is_left_before_the_next_trial():
    pace = Pace()
    how(pace, alone=1.0, together=0.5, works=TRIED + 7)
    assert pace.together
    assert False in how(pace, alone=1.0, together=4.0, works=TOGETHER + 1)


def test_several_pieces_at_once_are_as_many_one_by_one():
    """But while it tries, each piece counts by itself."""
    one, several, done = Pace(), Pace(), 0
    while done < 4 * (TRIED + KEEP):
        pieces = min(several.steady, 7)
        assert several.together == one.together
        assert pieces == 1 or one.together == (done >= ALONE)
        seconds = 1.0 if one.together else 2.0
        for _ in range(pieces):
            assert one.together == several.together
            one.took(seconds)
        several.took(pieces * seconds, pieces)
        done += pieces
    assert one.together == several.together
    assert one.steady == several.steady


def test_several_slow_pieces_end_working_together():
    pace = Pace()
    how(pace, alone=2.0, together=1.0, works=TRIED)
    assert pace.together
    assert pace.steady == KEEP
    pace.took(100.0, 5)
    assert not pace.together
