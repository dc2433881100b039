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


def test_it_ends_with_its_owner():
    before = threading.active_count()
    second = SecondThread(lambda: None)
    second.call()
    assert threading.active_count() == before + 1
    del second
    gc.collect()
    wait_until(lambda: threading.active_count() == before)


def test_on_one_processor_nobody_comes(monkeypatch):
    monkeypatch.setattr(second_thread, "processors", lambda: 1)
    before = threading.active_count()
    SecondThread(pytest.fail).call()
    assert threading.active_count() == before
