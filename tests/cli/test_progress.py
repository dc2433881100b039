"""What is shown while something takes a while."""

import io
import sys
from pathlib import Path

import pytest

from clearformer.cli import progress
from clearformer.cli.progress import Counter, TrainingDisplay
from clearformer.models.configuration import ModelConfiguration
from clearformer.training.events import Start


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def clock(monkeypatch):
    """A clock that a test moves."""
    now = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    return now


def counted(clock, seconds):
    with Counter("measuring") as counter:
        for second in range(seconds):
            clock[0] = second
            counter.show(second / seconds)


def test_work_of_some_seconds_is_counted_in_a_terminal_and_the_line_cleared(monkeypatch, clock):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    counted(clock, 10)
    shown = terminal.getvalue().split("\r")
    assert shown[1:9] == [f"measuring … {10 * n:3}%" for n in range(2, 10)]
    assert shown[-2].isspace()
    assert len(shown[-2]) >= len(shown[-3])


def test_short_work_shows_nothing(monkeypatch, clock):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    counted(clock, 2)
    assert terminal.getvalue() == ""


def test_nothing_is_counted_where_there_is_no_terminal(monkeypatch, clock, capsys):
    counted(clock, 10)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(sys, "stderr", None)
    counted(clock, 10)


def test_a_terminal_that_was_closed_costs_no_work(monkeypatch, clock):
    class Closed(Terminal):
        def write(self, text: str) -> int:
            raise OSError("gone")

    monkeypatch.setattr(sys, "stderr", Closed())
    counted(clock, 10)


def test_a_run_says_where_it_is_computed(capsys):
    start = Start(Path("runs/a"), ModelConfiguration(10), "words", 9, 1, 2, "cuda:1", 0, 5, None)
    TrainingDisplay().started(start)
    assert "5 steps of 2 × 64 tokens on cuda:1; Ctrl-C" in capsys.readouterr().err
