"""Laws of going on: however often a run is stopped, it ends with the same SHA-256 as if it had not.

Of weights, optimizer and random state, on every engine, with splits in the middle of epochs (one
has 16 of the 24 steps), dropout, accumulation and several threads.
"""

import random
import signal

import pytest

import clearformer as cf
from clearformer.errors import Interrupted
from faults.counts import few_or_all
from faults.tiny import DIALS, ENGINES, StopAt, fingerprint

LAST = DIALS["steps"]


@pytest.fixture(autouse=True)
def ctrl_c_is_heard():
    """Also where the tests run in the background, with SIGINT ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@few_or_all("splits", 10, 50)
@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("accumulation", [1, 3])
@pytest.mark.parametrize("dropout", [0.0, 0.2])
@pytest.mark.parametrize("engine", ENGINES)
def test_a_stopped_and_resumed_run_has_the_sha_256_of_an_uninterrupted_one(
    tmp_path, text_file, engine, dropout, accumulation, workers, splits
):
    dials = DIALS | {
        "engine": engine,
        "dropout": dropout,
        "accumulation": accumulation,
        "workers": workers,
        "seed": splits,
    }
    require_the_same_however_it_is_stopped(tmp_path, text_file, dials, splits)


@few_or_all("splits", 5, 50)
@pytest.mark.parametrize("kind", ["rnn", "lstm", "gru"])
@pytest.mark.parametrize("engine", ENGINES)
def test_so_has_a_run_of_a_model_that_carries_its_state(tmp_path, text_file, engine, kind, splits):
    """Stopped in the middle of a text as often as between two readings of it."""
    sizes = {"layers": 2, "hidden": 7, "dropout": 0.2, "accumulation": 2, "workers": 2}
    dials = {name: value for name, value in DIALS.items() if name != "heads"} | sizes
    dials |= {"model": kind, "engine": engine, "seed": splits}
    require_the_same_however_it_is_stopped(tmp_path, text_file, dials, splits)


def require_the_same_however_it_is_stopped(tmp_path, text_file, dials, splits):
    """Trains once in one go, and again and again with stops, until so many were made."""
    cf.train(text_file, out=tmp_path / "whole", **dials)
    expected, luck, made, number = fingerprint(tmp_path / "whole"), random.Random(splits), 0, 0
    while made < splits:
        stops = sorted(luck.sample(range(1, LAST), luck.randint(2, 6)))
        run = tmp_path / str(number)
        with pytest.raises(Interrupted):
            cf.train(text_file, out=run, reporter=StopAt(stops[0]), **dials)
        for step in stops[1:]:
            with pytest.raises(Interrupted):
                cf.train(out=run, resume=True, reporter=StopAt(step))
        cf.train(out=run, resume=True)
        assert fingerprint(run) == expected, stops
        made, number = made + len(stops), number + 1
    assert expected["step"] == LAST
