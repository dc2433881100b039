"""The second thread comes when it is called, and ends with its owner."""

import gc
import threading
import time

import pytest

from clearformer.engines.numpy.compiled import second_thread
from clearformer.engines.numpy.compiled.second_thread import SecondThread

DEADLINE = 60.0
"""Seconds; on a busy machine a thread may wait for long."""


@pytest.fixture(autouse=True)
def two_processors(monkeypatch):
    monkeypatch.setattr(second_thread, "processors", lambda: 2)


def wait_until(holds) -> None:
    end = time.monotonic() + DEADLINE
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.001)


def test_each_call_is_answered():
    answers = []
    second = SecondThread(answers.append, 7)
    assert not answers
    second.call()
    wait_until(lambda: answers == [7])
    second.call()
    wait_until(lambda: answers == [7, 7])


def begun_since(known: set[threading.Thread]) -> set[threading.Thread]:
    """Threads that were not there; those of other tests may be about to end."""
    return set(threading.enumerate()) - known


def test_it_ends_with_its_owner():
    known = set(threading.enumerate())
    second = SecondThread(lambda: None)
    second.call()
    (mine,) = begun_since(known)
    del second
    gc.collect()
    wait_until(lambda: not mine.is_alive())


def test_on_one_processor_nobody_comes(monkeypatch):
    monkeypatch.setattr(second_thread, "processors", lambda: 1)
    known = set(threading.enumerate())
    SecondThread(pytest.fail).call()
    assert not begun_since(known)
