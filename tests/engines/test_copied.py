"""Copies of the process: what they do is done, and nobody waits for one that is gone."""

import fcntl
import os
import signal
import subprocess
import sys
import threading
import time
import warnings
from pathlib import Path
from threading import Event, Thread

import numpy as np
import pytest

from clearformer.engines import copied
from clearformer.engines import shared as sharing
from clearformer.engines.copied import Copied, leave, may_be_left
from clearformer.engines.shared import copies_work, shared

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
    monkeypatch.setattr(sharing, "copies_work", lambda: False)
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
    while is_alive(process) and time.monotonic() - killed < 30:
        time.sleep(0.01)
    assert not is_alive(process)


class Kept:
    """Something of the parent that copies leave something to."""

    def __init__(self):
        self.taken = []
        may_be_left(self)

    def take(self, *what):
        self.taken.append((os.getpid(), what))


def test_what_is_left_to_the_parent_is_taken_with_the_answer():
    kept = Kept()

    def work(number):
        leave(kept, "before", number)
        return 1 // number

    leave(kept, "here")
    assert kept.taken == [(os.getpid(), ("here",))]
    kept.taken.clear()
    with Copied(work) as there:
        answer = there.begin(1)
        assert kept.taken == []
        assert answer() == 1
        assert kept.taken == [(os.getpid(), ("before", 1))]
        assert there.begin(0)() is None  # it failed: nothing is taken
        assert len(kept.taken) == 1


def test_a_copy_that_is_stuck_is_given_up(monkeypatch):
    """As by a lock that another thread had when the process was copied."""
    monkeypatch.setattr(copied, "LATE", 2.0)
    lock, leave_it = threading.Lock(), threading.Event()

    def hold():
        with lock:
            leave_it.wait()

    def work():
        with lock:
            return os.getpid()

    thread = Thread(target=hold)
    thread.start()
    while not lock.locked():
        time.sleep(0.001)
    try:
        with Copied(work) as there:
            process = there._process
            begun = time.monotonic()
            assert there.begin()() is None
            assert time.monotonic() - begun < 30
            assert not there.is_there
        assert not is_alive(process)
    finally:
        leave_it.set()
        thread.join()


def test_who_takes_long_is_waited_for_as_its_parent_does(monkeypatch):
    monkeypatch.setattr(copied, "LATE", 1.0)
    with Copied(lambda: time.sleep(3) or "done") as there:
        answer = there.begin()
        time.sleep(0.5)
        assert answer() == "done"


def test_another_process_that_has_the_pipe_open_delays_nothing():
    other = 0
    try:
        with Copied(abs) as there:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DeprecationWarning)
                other = os.fork()
            if not other:
                time.sleep(60)
                os._exit(0)
            assert there.begin(-3)() == 3
            begun = time.monotonic()
        assert time.monotonic() - begun < 4  # `TIME_TO_END` is more
    finally:
        if other:
            os.kill(other, signal.SIGKILL)
            os.waitpid(other, 0)


CTRL_C = """
import os, signal
from clearformer.engines.copied import Copied

made, fork = [], os.fork

def interrupted():
    process = fork()
    if process:
        made.append(process)
        os.kill(os.getpid(), signal.SIGINT)  # waits until the copy is made
    return process

os.fork = interrupted
try:
    with Copied(abs):
        print("not interrupted")
except KeyboardInterrupt as mistake:
    kept = mistake
try:
    os.kill(made[0], 0)
    print("left behind")
except ProcessLookupError:
    print("gone")
"""


def test_ctrl_c_while_it_is_made_leaves_none_behind():
    done = subprocess.run(
        [sys.executable, "-c", CTRL_C], check=False, capture_output=True, text=True
    )
    assert (done.stdout, done.stderr) == ("gone\n", "")


STUCK = """
import os, threading, time
from clearformer.engines.copied import Copied

lock = threading.Lock()
threading.Thread(target=lambda: lock.acquire() and time.sleep(60), daemon=True).start()
while not lock.locked():
    time.sleep(0.001)
with Copied(lock.acquire) as there:
    there.begin()
    time.sleep(0.5)  # until it waits
    print(there._process, flush=True)
    time.sleep(60)
"""


def test_one_that_is_stuck_ends_with_its_parent_too():
    command = [sys.executable, "-c", STUCK]
    parent = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    process = int(parent.stdout.readline())
    parent.kill()
    parent.communicate()
    end = time.monotonic() + 20
    while is_alive(process) and time.monotonic() < end:
        time.sleep(0.01)
    assert not is_alive(process)


def test_without_standard_files_it_works():
    script = "import sys\nfrom clearformer.engines.copied import Copied\n"
    script += "with Copied(abs) as there: sys.exit(there.begin(-3)() != 3)"
    command = f"{sys.executable} -c '{script}' <&- >&-"
    assert subprocess.run(["bash", "-c", command], check=False).returncode == 0


def test_too_little_memory_is_told_as_everywhere(monkeypatch):
    def refuse(*_):
        raise OSError(12, "Cannot allocate memory")

    monkeypatch.setattr(sharing.mmap, "mmap", refuse)
    with pytest.raises(MemoryError, match="24 bytes"):
        shared(np.zeros(3))


def test_numbers_that_overflow_warn_of_nothing_there():
    big = np.full(3, 1e38, np.float32)
    with np.errstate(over="raise"), Copied(lambda: float((big * big)[0])) as there:
        assert there.begin()() == np.inf


def test_a_copy_has_nothing_open_but_its_end_of_the_pipe(tmp_path):
    """While its parent lives: what that has let go of is free."""
    with (tmp_path / "held").open("w"), Copied(os.getpid) as there:
        process = there.begin()()
        found = [str(entry.readlink()) for entry in Path(f"/proc/{process}/fd").iterdir()]
    assert len([name for name in found if name.startswith("socket:")]) == 1
    assert set(found) - {name for name in found if name.startswith("socket:")} == {os.devnull}


def test_who_does_not_even_read_a_long_message_is_given_up(monkeypatch):
    """Sending waits until it is read; a copy that is stuck reads nothing."""
    monkeypatch.setattr(copied, "LATE", 2.0)
    with Copied(len) as there:
        os.kill(there._process, signal.SIGSTOP)
        assert there.begin(bytes(5_000_000))() is None
        assert not there.is_there


def test_a_long_message_arrives():
    with Copied(len) as there:
        assert there.begin(bytes(5_000_000))() == 5_000_000


def test_a_system_that_ends_is_refused_alike(monkeypatch):
    def refuse():
        raise RuntimeError("can't fork at interpreter shutdown")

    monkeypatch.setattr(os, "fork", refuse)
    with Copied(abs) as there:
        assert not there.is_there


SLOW = "import time\ntime.sleep(1.5)\n"


def test_it_is_waited_for_an_import_in_another_thread(tmp_path, monkeypatch):
    """A copy that imported the same would wait for a thread that it does not have."""
    (tmp_path / "slow_to_import.py").write_text(SLOW)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(copied, "QUIET", 60.0)
    thread = Thread(target=__import__, args=("slow_to_import",))
    thread.start()
    while copied._nobody_imports() and thread.is_alive():
        time.sleep(0.001)
    with Copied(lambda: __import__("slow_to_import").__name__) as there:
        assert there.begin()() == "slow_to_import"
    thread.join()


def test_an_answer_that_nobody_waited_for_is_not_taken_for_the_next():
    kept = Kept()
    with Copied(lambda number: leave(kept, number) or number) as there:
        there.begin(1)
        there.begin(2)
        assert there.begin(3)() == 3
    assert [what for _, what in kept.taken] == [(3,)]


def test_ctrl_c_in_the_middle_of_an_answer_gives_it_up(monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    with Copied(abs) as there:
        answer = there.begin(-1)
        monkeypatch.setattr(there, "_comes", interrupt)
        with pytest.raises(KeyboardInterrupt):
            answer()
        assert not there.is_there
