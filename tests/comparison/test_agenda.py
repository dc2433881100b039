"""Laws of the time that is left of a comparison."""

import pytest

from clearformer.comparison import agenda
from clearformer.comparison.agenda import CERTAIN, Agenda
from clearformer.comparison.entrants import entrants_of
from clearformer.comparison.events import Job

SEARCH = Job("01-rnn-search", "rnn", "search", 0, 1e-3)


@pytest.fixture
def clock(monkeypatch):
    """A clock that a test moves by hand."""
    now = [100.0]
    monkeypatch.setattr(agenda.time, "monotonic", lambda: now[0])
    return now


def test_building_says_nothing_of_how_fast_training_is(clock):
    planned = Agenda(entrants_of("rnn"), 1)
    planned.begin(SEARCH)
    clock[0] += 60  # until its first step has ended
    assert planned.seconds_left(SEARCH, 0.01) is None
    clock[0] += CERTAIN - 1
    assert planned.seconds_left(SEARCH, 0.1) is None
    clock[0] += 1
    left = planned.seconds_left(SEARCH, 0.51)
    whole = CERTAIN / (0.5 * agenda.SHARE)  # of a full trial
    assert left == pytest.approx(whole * (1 + 3 * agenda.SHARE - 0.51 * agenda.SHARE))


def test_counting_and_memory_are_no_training(clock):
    planned = Agenda(entrants_of("ngram,rnn"), 1)
    for purpose in ("count", "memory"):
        job = Job(purpose, "rnn", purpose)
        planned.begin(job)
        clock[0] += 1000
        planned.end(job, earlier=False)
    planned.begin(SEARCH)
    assert planned.seconds_left(SEARCH, 0.001) is None


def test_what_was_trained_tells_how_long_the_rest_takes(clock):
    planned = Agenda(entrants_of("rnn"), 2)
    for rate in (1e-3, 3e-3, 1e-2):
        job = Job(f"01-{rate}", "rnn", "search", 0, rate)
        planned.begin(job)
        clock[0] += 10
        planned.end(job, earlier=False)
    trial = Job("01-trial", "rnn", "trial")
    planned.begin(trial)
    assert planned.seconds_left(trial, 0.0) == pytest.approx(2 * 10 / agenda.SHARE)
