"""Laws of what a comparison shows while it runs."""

import io
import sys

import pytest

import clearformer as cf
from clearformer.cli import comparison_display
from clearformer.cli.comparison_display import ComparisonDisplay
from clearformer.comparison import teaching
from clearformer.comparison.events import Listener
from comparison.small import DECODER, Ending, StoppedError, small


class Terminal(io.StringIO):
    def isatty(self):
        return True


class Notes(Listener):
    def __init__(self):
        self.notes = []

    def note(self, text):
        self.notes.append(text)


def test_a_file_has_a_line_from_time_to_time_of_what_is_measured(capsys, monkeypatch):
    monkeypatch.setattr(comparison_display, "PLAIN_SECONDS", 0.0)
    with ComparisonDisplay() as display:
        display.looking("text: rnn, seed 0", 0.25)
    assert capsys.readouterr().err == "measuring text: rnn, seed 0: 25%\n"


def test_a_lesson_says_at_its_start_how_long_it_takes(monkeypatch):
    class BegunError(Exception):
        """It would begin now."""

    def lesson(*_, **__):
        raise BegunError

    monkeypatch.setattr(teaching, "lesson", lesson)
    for minutes, said in ((10.0, "takes about 10 minutes"), (0.5, "takes longer than minutes=0.5")):
        heard = Notes()
        try:
            teaching.taught("a text", minutes=minutes, listener=heard)
        except BegunError:
            assert said in heard.notes[0]


def test_from_python_it_shows_what_the_command_shows_and_leaves_no_bar(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("COLUMNS", "80")
    display = cf.ComparisonDisplay()
    found = small(models=["ngram", DECODER], seeds=1, listener=display)
    shown = terminal.getvalue()
    assert f"{DECODER}, seed 0: {found.of(DECODER)[0].bits_per_character:.3f} bits per" in shown
    assert display._bar is None
    assert shown.rindex("\x1b[?25h") > shown.rindex("\x1b[?25l")  # the cursor is back


def test_it_is_over_also_where_it_was_stopped():
    class Told(Ending):
        over_times = 0

        def over(self):
            self.over_times += 1

    told = Told(1)
    with pytest.raises(StoppedError):
        small(listener=told)
    assert told.over_times == 1
