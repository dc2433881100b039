"""The thread that watches the others: when it ends the process, and when it lets it be."""

import os
import signal
import threading
import time

import pytest

watch = pytest.importorskip(
    "clearformer.engines.torch.watch", reason="several processes need PyTorch", exc_type=ImportError
)

PATIENCE = 60.0


class Pretended:
    """Heartbeats in which what a test says has happened."""

    def __init__(self):
        self.told = False
        self.silent = {}
        self.beats = 0
        self.gone = False

    def beat(self):
        if self.gone:
            raise RuntimeError("connection reset")
        self.beats += 1

    def missing(self, beats):
        return [rank for rank, silent in self.silent.items() if silent >= beats]

    def claim(self):
        return not self.told


@pytest.fixture
def ends(monkeypatch):
    """The statuses with which the process would have been ended; and quick beats."""
    found = []
    monkeypatch.setattr(watch.os, "_exit", found.append)
    monkeypatch.setattr(watch, "BEAT", 0.005)
    return found


@pytest.fixture
def heartbeats():
    return Pretended()


@pytest.fixture
def watching(ends, heartbeats):
    one = watch.Watch(heartbeats, lambda missing: f"gone: {missing}")
    yield one
    one.stop()


def until(condition):
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.005)


def some_beats(heartbeats, number=10):
    until(lambda beats=heartbeats.beats: heartbeats.beats >= beats + number)


def beats_of(seconds):
    return seconds / watch.BEAT


def test_while_all_is_well_nothing_happens(watching, heartbeats, ends):
    heartbeats.silent = {1: beats_of(watch.AFTER_A_SIGNAL)}  # slow, but nothing else is wrong
    some_beats(heartbeats, 20)
    assert not ends


def test_a_verdict_names_whoever_is_silent(watching, heartbeats):
    heartbeats.silent = {1: beats_of(watch.AFTER_A_FAULT), 2: 0}
    assert watching.verdict() == [1]


def test_a_verdict_names_nobody_where_all_are_heard(watching, heartbeats, monkeypatch):
    monkeypatch.setattr(watch, "AFTER_A_FAULT", 10 * watch.BEAT)
    begun = heartbeats.beats
    assert watching.verdict() == []
    assert heartbeats.beats >= begun + 10


def test_a_verdict_waits_no_longer_once_another_tells(watching, heartbeats):
    heartbeats.told = True
    begun = heartbeats.beats
    assert watching.verdict() == []
    assert heartbeats.beats < begun + beats_of(watch.AFTER_A_FAULT)


def test_a_process_that_does_not_find_out_is_ended(watching, heartbeats, ends, monkeypatch):
    monkeypatch.setattr(watch, "TIME_TO_END", 10 * watch.BEAT)
    heartbeats.told = True
    until(lambda: ends == [watch.STATUS])


@pytest.mark.parametrize("is_told", [False, True])
def test_of_those_ended_the_first_tells(is_told, watching, heartbeats, ends, monkeypatch, tmp_path):
    monkeypatch.setattr(watch, "TIME_TO_END", 10 * watch.BEAT)
    with (tmp_path / "error").open("w") as error:
        monkeypatch.setattr(watch.sys, "stderr", error)
        heartbeats.told = is_told
        heartbeats.silent = {3: beats_of(watch.OUT_OF_THE_BLUE)}
        until(lambda: ends)
    told = (tmp_path / "error").read_text()
    assert told == ("" if is_told else "clearformer: gone: [3]\n")


def test_a_process_that_is_leaving_gets_more_time(watching, heartbeats, ends, monkeypatch):
    monkeypatch.setattr(watch, "TIME_TO_END", 2 * watch.BEAT)
    watching.leaving()
    heartbeats.told = True
    some_beats(heartbeats, 20)
    assert not ends


def test_what_is_being_written_is_not_cut_off(watching, heartbeats, ends, monkeypatch):
    monkeypatch.setattr(watch, "TIME_TO_END", 2 * watch.BEAT)
    with watching.writing:
        heartbeats.told = True
        some_beats(heartbeats, 2)
        time.sleep(20 * watch.BEAT)  # time enough to do wrong
        assert not ends
    until(lambda: ends)


def test_a_signal_is_noticed_while_the_main_thread_waits(watching, heartbeats, ends, monkeypatch):
    """Python runs handlers between two instructions; waiting for another rank is one."""
    monkeypatch.setattr(watch, "TIME_TO_END", 2 * watch.BEAT)
    before = signal.signal(signal.SIGTERM, lambda *_: None)
    try:
        heartbeats.silent = {1: beats_of(watch.AFTER_A_SIGNAL)}
        some_beats(heartbeats)
        assert not ends
        signal.raise_signal(signal.SIGTERM)
        until(lambda: ends)
    finally:
        signal.signal(signal.SIGTERM, before)


@pytest.mark.parametrize("how", ["the store is gone", "the parent is gone"])
def test_without_torchrun_a_process_asks_itself_to_stop(
    how, watching, heartbeats, ends, monkeypatch
):
    heard = threading.Event()
    before = signal.signal(signal.SIGTERM, lambda *_: heard.set())
    try:
        if how == "the store is gone":
            heartbeats.gone = True
        else:
            monkeypatch.setattr(os, "getppid", lambda: 1_000_000)
        until(heard.is_set)
        assert not ends
    finally:
        signal.signal(signal.SIGTERM, before)
