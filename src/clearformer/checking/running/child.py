"""The other process: reads a job, runs the learner's file, sends the record, and ends at once.

What it was started for arrives on its standard input; its standard output becomes the pipe for
the record. Before the learner's code runs, both are put out of its way: input is empty, and what is
printed goes to standard error, from where the parent reads it.
"""

import contextlib
import faulthandler
import os
import sys
import threading
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO

from clearformer.checking.catalogue import find
from clearformer.checking.exercise import Exercise
from clearformer.checking.probe import Probe
from clearformer.checking.record import Failure, Record, Style
from clearformer.checking.running.clock import LOADING
from clearformer.checking.running.failing import failure
from clearformer.checking.running.importing import LONGEST_IMPORT, Search, imported
from clearformer.checking.running.job import Job, Step
from clearformer.checking.running.luck import seed
from clearformer.checking.running.memory import Allowance
from clearformer.checking.running.printed import no_input
from clearformer.checking.running.trial import Trial
from clearformer.checking.running.wire import receive, send

PRINTED = (sys.stdout, sys.stderr)
"""Python's own, whatever a learner puts in their place."""

GRACE = 1.0
"""Seconds after a limit within which Python has to have noticed; then the process ends itself."""


def main() -> None:
    """Does one job; comes back to nobody."""
    wire = os.fdopen(os.dup(1), "wb")
    jobs = os.fdopen(os.dup(0), "rb")
    empty = os.open(os.devnull, os.O_RDONLY)
    os.dup2(empty, 0)
    os.dup2(2, 1)
    faulthandler.enable(file=2, all_threads=False)
    received = receive(jobs, {"job": Job, "end": dict})
    if received is not None:
        _Work(received[1], wire).do()
    os._exit(0)


def load_torch() -> None:
    """Loads PyTorch; where it is not installed, the learner's own line is left to say so."""
    with contextlib.suppress(ImportError):
        import_module("torch")


@dataclass
class _Work:
    """One job and the pipe for its record."""

    job: Job
    wire: BinaryIO

    def __post_init__(self) -> None:
        self.process = os.getpid()
        self.called = bool(self.job.without)

    def do(self) -> None:
        """Sends the record, or what is wrong with the exercise."""
        try:
            exercise = find(self.job.exercise)
            if self.job.torch:
                load_torch()
        except Exception as error:
            self._send("wrong-exercise", f"{type(error).__name__}: {error}"[:500])
            return
        try:
            with no_input():
                record = self._record(exercise)
        except Exception as error:
            record = self._failed(exercise, _unlooked(error))
        _flush()
        faulthandler.cancel_dump_traceback_later()
        self._send("record", replace(record, notes=(*record.notes, *_left_over())))

    def _record(self, exercise: Exercise) -> Record:
        file = Path(self.job.file)
        sys.argv = [self.job.file]
        self._begin("", LONGEST_IMPORT)
        seed()
        allowance = Allowance.beyond_now(self.job.memory)
        found = imported(file, self.job.source, allowance)
        if isinstance(found, Failure):
            return self._failed(exercise, found)
        answer = Search(found.names).function(self.job.function, exercise.name)
        if isinstance(answer, Failure):
            return self._failed(exercise, answer)
        seed()
        trial = Trial(exercise, self.job.seconds, self.job.without, self._call, allowance)
        record = trial.of(answer.thing, answer.name, self.job.file)
        return replace(record, notes=(*record.notes, *(["work-at-import"] if found.works else [])))

    def _failed(self, exercise: Exercise, failure: Failure) -> Record:
        name = self.job.function or exercise.name
        return Record(name, self.job.file, Style(), {}, failure)

    def _call(self, probe: Probe, seconds: float) -> None:
        """A call; the first may take longer, for what it imports."""
        self._begin(probe.name, seconds + (0.0 if self.called else LOADING))
        self.called = True

    def _begin(self, probe: str, seconds: float) -> None:
        """Tells the parent what comes next, and ends this process if it never does."""
        self._send("step", Step(probe, seconds + GRACE))
        faulthandler.dump_traceback_later(seconds + GRACE, exit=True, file=2)

    def _send(self, kind: str, content: Any) -> None:
        if os.getpid() != self.process:
            os._exit(0)  # a copy that the answer made of this process
        try:
            send(self.wire, kind, content)
        except (OSError, ValueError):
            os._exit(1)


def _unlooked(error: Exception) -> Failure:
    """For an answer whose objects raise when one looks at them, or that took Python apart."""
    return failure(
        "died",
        "it cannot be looked at: {error}",
        "中を調べられません: {error}",
        error=type(error).__name__,
    )


def _flush() -> None:
    """What is printed is not lost although the process ends at once."""
    for stream in PRINTED:
        with contextlib.suppress(Exception):
            stream.flush()


def _left_over() -> list[str]:
    """What the answer has left running, as notes."""
    notes = []
    if any(each is not threading.main_thread() for each in threading.enumerate()):
        notes.append("leaves-a-thread")
    if hasattr(os, "waitpid"):
        try:
            if os.waitpid(-1, os.WNOHANG)[0] == 0:
                notes.append("leaves-a-process")
        except OSError:
            pass
    return notes
