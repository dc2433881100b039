"""Copies of the process: what they do is done, and nobody waits for one that is gone."""

import fcntl
import os
import signal
import subprocess
import sys
import time
import warnings
from threading import Event, Thread

import numpy as np
import pytest

from clearformer.engines import copied
from clearformer.engines.copied import Copied, copies_work, shared

pytestmark = pytest.mark.skipif(not copies_work(), reason="processes are copied on Linux alone")


def is_alive(process):
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def test_what_a_copy_writes_into_shared_memory_is_there():
    numbers = shared(np.arange(5.0))

    def add(amount):
        numbers[:] += amount
        return os.getpid()

    with Copied(add) as there:
        answers = [there.begin(amount)() for amount in (1, 10)]
    np.testing.assert_array_equal(numbers, np.arange(5.0) + 11)
    assert answers[0] == answers[1] != os.getpid()
    assert not is_alive(answers[0])


@pytest.mark.parametrize("array", [np.zeros((0, 3)), np.ones((2, 3), np.float32), np.array(7)])
def test_shared_memory_holds_the_same(array):
    other = shared(array)
    np.testing.assert_array_equal(other, array, strict=True)
    assert not np.may_share_memory(other, array)


def test_where_there_are_no_copies_it_is_an_array_of_its_own(monkeypatch):
    monkeypatch.setattr(copied, "copies_work", lambda: False)
    array = np.ones(3)
    other = shared(array)
    other[0] = 2
    assert array[0] == 1
    assert other.base is None


def test_several_work_at_the_same_time():
    marks = shared(np.zeros(2))

    def both(number):
        marks[number] = 1
        end = time.monotonic() + 30
        while not marks.all() and time.monotonic() < end:
            time.sleep(0.001)
        return bool(marks.all())

    with Copied(both) as first, Copied(both) as second:
        answers = [copy.begin(number) for number, copy in enumerate((first, second))]
        assert [answer() for answer in answers] == [True, True]


def test_what_failed_is_answered_by_nothing_and_the_next_is_done():
    with Copied(lambda number: 1 // number) as there:
        assert there.begin(0)() is None
        assert there.is_there
        assert there.begin(1)() == 1


@pytest.mark.parametrize("at_work", [True, False])
def test_who_was_killed_is_not_waited_for(at_work):
    with Copied(lambda seconds: time.sleep(seconds) or os.getpid()) as there:
        process = there.begin(0)()
        answer = there.begin(60) if at_work else None
        os.kill(process, signal.SIGKILL)
        answer = answer or there.begin(0)
        assert answer() is None
        assert not there.is_there
        assert there.begin(0)() is None
    with pytest.raises(ChildProcessError):
        os.waitpid(process, os.WNOHANG)  # nothing of it is left


def test_after_a_mistake_nobody_waits_for_what_is_at_work():
    begun = time.monotonic()
    with pytest.raises(ArithmeticError), Copied(time.sleep) as there:
        there.begin(60)
        raise ArithmeticError
    assert time.monotonic() - begun < 30


def test_where_the_system_refuses_nobody_answers(monkeypatch):
    def refuse():
        raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(os, "fork", refuse)
    with Copied(abs) as there:
        assert not there.is_there
        assert there.begin(1)() is None


def test_it_does_not_warn_of_the_threads_there_are():
    leave = Event()
    thread = Thread(target=leave.wait)
    thread.start()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with Copied(abs) as there:
                assert there.begin(-3)() == 3
    finally:
        leave.set()
        thread.join()


def test_a_copy_made_by_another_thread_works():
    found = []

    def work():
        with Copied(abs) as there:
            found.append(there.begin(-3)())

    thread = Thread(target=work)
    thread.start()
    thread.join()
    assert found == [3]


def test_signals_of_the_terminal_are_left_to_the_parent():
    with Copied(os.getpid) as there:
        process = there.begin()()
        for number in (signal.SIGINT, signal.SIGHUP):
            os.kill(process, number)
        assert there.begin()() == process
        os.kill(process, signal.SIGTERM)  # that is meant for it
        assert there.begin()() is None


PARENT = """
import fcntl, os, sys, time
from clearformer.engines.copied import Copied

lock = open(sys.argv[1], "w")
fcntl.flock(lock, fcntl.LOCK_EX)

def work(seconds):
    time.sleep(seconds)
    return os.getpid()

with Copied(work) as there:
    print(there.begin(0)(), flush=True)
    there.begin(float(sys.argv[2]))
    time.sleep(60)
"""


@pytest.mark.parametrize("seconds", [0.0, 2.0])
def test_a_killed_parent_leaves_no_lock_no_open_end_and_no_process(tmp_path, seconds):
    path = tmp_path / "lock"
    command = [sys.executable, "-c", PARENT, str(path), str(seconds)]
    parent = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    process = int(parent.stdout.readline())
    with path.open() as lock, pytest.raises(BlockingIOError):
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    killed = time.monotonic()
    parent.kill()
    parent.communicate()  # waits until nobody has its output open
    with path.open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    assert time.monotonic() - killed < 1.5  # a copy that works lives longer, and holds nothing
    while is_alive(process) and time.monotonic() - killed < 30:
        time.sleep(0.01)
    assert not is_alive(process)
