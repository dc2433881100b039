"""A text and dials so small that a run takes a moment."""

import json
import signal

import pytest

from clearformer.errors import ClearformerError
from clearformer.training.events import Reporter

TEXT = "the cat sat on the mat; the dog ran to the cat. " * 12

DIALS = {"layers": 1, "heads": 2, "embed": 8, "context": 8, "batch": 4, "steps": 12}


class StopAt(Reporter):
    """Presses Ctrl-C after a step."""

    def __init__(self, step):
        self.number = step

    def step(self, step):
        if step.step == self.number:
            signal.raise_signal(signal.SIGINT)


class Told(Reporter):
    """Keeps the notes."""

    def __init__(self):
        self.notes = []

    def note(self, text):
        self.notes.append(text)


def refused(kind, function, *arguments, **options):
    """The message with which a call is refused: one line, an error of this library."""
    with pytest.raises(kind) as caught:
        function(*arguments, **options)
    assert isinstance(caught.value, ClearformerError)
    message = str(caught.value)
    assert message
    assert "\n" not in message
    return message


def change_configuration(path, change):
    """Alters run.json as an editor would."""
    file = path / "run.json"
    document = json.loads(file.read_text("utf-8"))
    change(document)
    file.write_text(json.dumps(document), "utf-8")


def files_in(folder):
    """Every file and folder below, with its content."""
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in folder.rglob("*")
    }
