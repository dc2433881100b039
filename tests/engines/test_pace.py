"""A second thread is tried, kept where it helps, and tried again later."""

from itertools import pairwise

from clearformer.engines.numpy.compiled.pace import FIRST_BREAK, KEEP, LONGEST_BREAK, TRIAL, Pace


def how(pace: Pace, alone: float, together: float, works: int) -> list[bool]:
    """How each piece of work was done, where they take so long."""
    done = []
    for _ in range(works):
        done.append(pace.together)
        pace.took(together if pace.together else alone)
    return done


def test_a_second_thread_that_helps_is_kept_until_the_next_trial():
    done = how(Pace(), alone=2.0, together=1.0, works=2 * (2 * TRIAL + KEEP))
    cycle = TRIAL * [False] + TRIAL * [True] + KEEP * [True]
    assert done == 2 * cycle


def test_one_that_does_not_help_is_left_alone():
    done = how(Pace(), alone=1.0, together=0.999, works=2 * TRIAL + FIRST_BREAK)
    assert done == TRIAL * [False] + TRIAL * [True] + FIRST_BREAK * [False]


def test_a_trial_ends_once_it_has_cost_more_than_going_alone():
    """A thread that is waited for in vain takes a thousand times as long."""
    done = how(Pace(), alone=1.0, together=1000.0, works=TRIAL + 1 + FIRST_BREAK)
    assert done == TRIAL * [False] + [True] + FIRST_BREAK * [False]


def test_what_is_in_vain_is_tried_ever_more_seldom():
    done = how(Pace(), alone=1.0, together=1000.0, works=40 * LONGEST_BREAK)
    tries = [place for place, together in enumerate(done) if together]
    breaks = [after - before - 1 - TRIAL for before, after in pairwise(tries)]
    assert breaks[:3] == [FIRST_BREAK, 2 * FIRST_BREAK, 4 * FIRST_BREAK]
    assert set(breaks[8:]) == {LONGEST_BREAK}


def test_what_changes_is_found_out():
    pace = Pace()
    how(pace, alone=1.0, together=9.0, works=TRIAL + 1 + FIRST_BREAK)
    assert how(pace, alone=1.0, together=0.5, works=2 * TRIAL + 1)[-1]
