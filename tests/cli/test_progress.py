"""What is shown while something takes a while."""

import io
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from clearformer.cli import output, progress
from clearformer.cli.output import note_of
from clearformer.cli.progress import Counter, TrainingDisplay
from clearformer.models.configuration import ModelConfiguration
from clearformer.models.kinds import KINDS
from clearformer.training.events import Start

START = Start(
    *(Path("runs/a"), ModelConfiguration(10), "words", 9, 1, 2),
    *("PyTorch on cuda:1", 0, 5, None),
)


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
    shown = terminal.getvalue().split("\r\x1b[K")
    assert shown == [*(f"measuring … {10 * n:3}%" for n in range(2, 10)), ""]


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
    TrainingDisplay().started(START)
    assert "5 steps of 2 × 64 tokens with PyTorch on cuda:1; Ctrl-C" in capsys.readouterr().err


def terminal_of(monkeypatch):
    """One of 80 columns; made in the test itself, as pytest sets the streams anew before it."""
    found = Terminal()
    monkeypatch.setattr(sys, "stderr", found)
    monkeypatch.setenv("COLUMNS", "80")
    return found


def test_what_is_waited_for_is_said_and_makes_room_for_what_comes(monkeypatch):
    terminal = terminal_of(monkeypatch)
    with TrainingDisplay() as display:
        display.waiting("loading PyTorch")
        display.waiting("reading the text")
        display.note("done")
        display.waiting("thinking")
    assert terminal.getvalue() == (
        "loading PyTorch …\r\x1b[Kreading the text …\r\x1b[Knote: done\nthinking …\r\x1b[K"
    )


def test_an_error_or_warning_makes_room_too(monkeypatch):
    terminal = terminal_of(monkeypatch)
    display = TrainingDisplay()
    display.waiting("loading PyTorch")
    output.tell("clearformer: no")
    assert terminal.getvalue() == "loading PyTorch …\r\x1b[Kclearformer: no\n"


def test_where_there_is_no_terminal_nobody_waits(capsys):
    with TrainingDisplay() as display:
        display.waiting("loading PyTorch")
    assert capsys.readouterr().err == ""


def test_the_bar_begins_where_the_run_stands_and_says_what_is_waited_for(monkeypatch):
    terminal = terminal_of(monkeypatch)
    with TrainingDisplay() as display:
        display.started(replace(START, step=3, progress=0.6))
        display.waiting("compiling the model")
    shown = terminal.getvalue()
    assert "step 3/5" in shown
    assert "compiling the model …" in shown
    assert "step 0" not in shown


def test_a_note_is_broken_at_spaces_and_indented_in_a_terminal_only(monkeypatch):
    terminal_of(monkeypatch)
    text = "not compiled (that takes about 40 s and would save about 1 s), " * 3
    lines = note_of(text.strip()).split("\n")
    assert len(lines) > 2
    assert all(60 < len(line) <= 80 for line in lines[:-1])
    assert lines[0].startswith("note: not")
    assert all(line.startswith(" " * 6) and line[6] != " " for line in lines[1:])
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    assert note_of(text) == f"note: {text}"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "where", ["NumPy on 2 processors", "PyTorch on cuda:1 in bfloat16, compiled"]
)
def test_what_is_trained_is_told_within_80_columns(capsys, kind, where):
    model = KINDS[kind].configuration(vocabulary=100)
    with TrainingDisplay() as display:
        display.started(replace(START, model=model, batch=12, where=where, steps=20_000))
    told = capsys.readouterr().err
    train = told[told.index("Train") : told.index("Run ")].splitlines()
    assert all(len(line) <= 80 for line in told[: told.index("Run ")].splitlines())
    assert train[-1].endswith("Ctrl-C stops and saves")


def test_long_lines_are_broken_in_a_terminal_and_short_ones_left_alone(monkeypatch):
    terminal_of(monkeypatch)
    text = "def  f():\n        return 1\n\n" + "word " * 30
    first, second, third, *rest = output.in_terminal(text.strip(), indent=4)
    assert (first, second, third) == ("def  f():", "        return 1", "")
    assert len(rest) == 2
    assert all(len(line) <= 76 for line in rest)
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    assert output.in_terminal(text, indent=4) == text.splitlines()
