"""Tries an answer in this process: for notebooks, test suites and the self-test.

Nothing is contained: the answer can do all that this process can, and what does not return to
Python cannot be ended. `apart` is the way to try a file.
"""

import contextlib
import inspect
from dataclasses import replace
from typing import Any

from clearformer.checking.exercise import Exercise
from clearformer.checking.record import Record
from clearformer.checking.running.frames import printable
from clearformer.checking.running.luck import seeded
from clearformer.checking.running.printed import Beginning, no_input
from clearformer.checking.running.trial import Trial

NOT_CONTAINED = "not-contained"


def try_here(function: Any, exercise: Exercise, *, seconds: float = 10.0) -> Record:
    """What a function, class or module does on the probes of `exercise`, tried in this process.

    What it prints is caught, `input` finds nobody, and random generators are put back afterwards.
    A loop in Python ends after two seconds; anything else that hangs, ends the process or eats
    memory does so to this process. Ctrl-C goes through.
    """
    printed = Beginning()
    catch = contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed)
    with seeded(), no_input(), catch[0], catch[1]:
        trial = Trial(exercise, seconds, interrupt=False)
        record = trial.of(function, _name(function), _file(function))
    text = printable(printed.text())
    notes = [*record.notes, NOT_CONTAINED, *(["prints"] if text else [])]
    return replace(record, notes=tuple(notes), printed=text)


def _name(thing: Any) -> str:
    name = getattr(thing, "__name__", None)
    return name if isinstance(name, str) else type(thing).__name__


def _file(thing: Any) -> str | None:
    with contextlib.suppress(TypeError, OSError):
        return inspect.getsourcefile(thing)
    return None
