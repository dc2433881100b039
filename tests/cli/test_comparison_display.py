"""Laws of what a comparison shows while it runs."""

from clearformer.cli import comparison_display
from clearformer.cli.comparison_display import ComparisonDisplay
from clearformer.comparison import teaching
from clearformer.comparison.events import Listener


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
