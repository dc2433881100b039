"""Laws of Ctrl-C: it is heard once without breaking in, and a second one is not caught."""

import signal
import subprocess
import sys
import threading

import pytest

from clearformer.training import interrupt
from clearformer.training.interrupt import Interrupt

BOTH = pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])


def handlers():
    return [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]


@BOTH
def test_a_signal_is_heard_and_breaks_into_nothing(number):
    before = handlers()
    with Interrupt() as heard:
        assert heard.number is None
        signal.raise_signal(number)
        assert heard.number == number
    assert handlers() == before


def test_a_second_signal_stops_at_once():
    with pytest.raises(KeyboardInterrupt), Interrupt():
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)


@pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="signals cannot be held back")
def test_two_signals_that_wait_together_are_both_heard():
    """Held back until both are there, as on a busy machine; one of them ends the process."""
    program = (
        "import signal, threading\n"
        "from clearformer.training.interrupt import Interrupt\n"
        "both = signal.SIGINT, signal.SIGTERM\n"
        "with Interrupt():\n"
        "    signal.pthread_sigmask(signal.SIG_BLOCK, both)\n"
        "    for number in both:\n"  # to this thread, and to no other that would take it at once
        "        signal.pthread_kill(threading.get_ident(), number)\n"
        "    signal.pthread_sigmask(signal.SIG_UNBLOCK, both)\n"
        "    print('went on')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], check=False, capture_output=True, timeout=120
    )
    assert (done.returncode, done.stdout, done.stderr) == (-signal.SIGTERM, b"", b"")


def test_what_torchrun_passes_on_is_no_second_signal(monkeypatch):
    """In a terminal Ctrl-C reaches the processes themselves, too; the save must not be lost."""
    now = [0.0]
    monkeypatch.setattr(interrupt.time, "monotonic", lambda: now[0])
    monkeypatch.setenv("LOCAL_WORLD_SIZE", "2")
    before = handlers()
    with Interrupt() as heard:
        signal.raise_signal(signal.SIGINT)
        now[0] = interrupt.PASSED_ON / 2
        signal.raise_signal(signal.SIGINT)
        assert heard.number == signal.SIGINT
        now[0] = 2 * interrupt.PASSED_ON
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    assert handlers() == before


def test_handlers_come_back_when_training_fails():
    before = handlers()
    with pytest.raises(ZeroDivisionError), Interrupt():
        raise ZeroDivisionError
    assert handlers() == before


def test_the_handler_of_an_outer_program_comes_back():
    told = []
    before = signal.signal(signal.SIGTERM, lambda number, frame: told.append(number))
    try:
        with Interrupt() as heard:
            signal.raise_signal(signal.SIGTERM)
            assert not told
            signal.raise_signal(signal.SIGTERM)
        assert told == [signal.SIGTERM]
        assert heard.number == signal.SIGTERM
    finally:
        signal.signal(signal.SIGTERM, before)


def test_outside_the_main_thread_it_leaves_signals_alone():
    """Python allows handlers in the main thread only; a notebook may train in another."""
    found = []

    def train():
        with Interrupt() as heard:
            found.append(heard.number)

    before = handlers()
    thread = threading.Thread(target=train)
    thread.start()
    thread.join()
    assert found == [None]
    assert handlers() == before


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="this system has no SIGHUP")
def test_a_terminal_that_is_closed_is_heard_too():
    with Interrupt() as heard:
        signal.raise_signal(signal.SIGHUP)
        assert heard.number == signal.SIGHUP


@BOTH
def test_what_is_ignored_outside_stays_ignored(number):
    """As a shell does for what it starts in the background, and `nohup` for SIGHUP."""
    before = signal.signal(number, signal.SIG_IGN)
    try:
        with Interrupt() as heard:
            signal.raise_signal(number)
            assert heard.number is None
        assert signal.getsignal(number) is signal.SIG_IGN
    finally:
        signal.signal(number, before)
