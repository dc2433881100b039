"""Tries a learner's file in a process of its own, with limits.

What is contained: time, memory (on Linux), what it prints, what it asks for, exits and crashes.
What is not: the file runs with the rights of the person who calls this. It can read and write their
files, use the network and start programs that outlive it. Do not run a stranger's file with it
outside a container or virtual machine.
"""

import ast
import signal
import time
from dataclasses import dataclass, field, replace
from pathlib import Path

from clearformer.checking.record import Failure, Outcome, Raised, Record, Style
from clearformer.checking.running.failing import failure
from clearformer.checking.running.job import Job, Step
from clearformer.checking.running.memory import DEFAULT
from clearformer.checking.running.process import Process
from clearformer.checking.running.source import read_source
from clearformer.errors import ConfigurationError

MOST_DEATHS = 3
"""How often the process is started again after a probe that hung or ended it."""

HANGING = "Timeout"
DYING = "Died"


def try_apart(
    file: Path,
    function: str | None,
    exercise_name: str,
    *,
    seconds: float = 10,
    memory: int = DEFAULT,
    process: Process | None = None,
) -> Record:
    """What the function in `file` does on the probes of an exercise, tried in another process.

    Args:
        file: of the learner.
        function: to try; None for the one named like the exercise, or the only one.
        exercise_name: a name of the catalogue or the path of a teacher's file.
        seconds: for all calls together; running the file itself may take 10 more.
        memory: bytes that it may ask for beyond what Python needs; 0 for no limit.
        process: one that was started before, to save time.

    Raises:
        ConfigurationError: there is no such exercise, or it is not a correct one.
    """
    source = read_source(file)
    if isinstance(source, Failure):
        if process:
            process.end()
        return Record(function or Path(exercise_name).stem, str(file), Style(), {}, source)
    job = Job(str(file), source, function, exercise_name, seconds, memory, _has_torch(source))
    return _Attempts(job).record(process)


def _has_torch(source: str) -> bool:
    """Whether the text of the file imports PyTorch, so that its loading is not counted."""
    try:
        nodes = list(ast.walk(ast.parse(source)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    names = [alias.name for each in nodes if isinstance(each, ast.Import) for alias in each.names]
    names += [each.module or "" for each in nodes if isinstance(each, ast.ImportFrom)]
    return any(name.split(".")[0] == "torch" for name in names)


def prepared(file: Path) -> Process | None:
    """A process for `try_apart` that loads what `file` will need while something else is done.

    None if the file cannot be read, for which no process is needed. Who does not hand it to
    `try_apart` has to `end` it.
    """
    source = read_source(file)
    return Process(torch=_has_torch(source)) if isinstance(source, str) else None


@dataclass
class _Attempts:
    """The same job again, without the probes that ended the process before."""

    job: Job
    without: dict[str, Raised] = field(default_factory=dict)
    unstarted: Raised | None = None
    """What happened to a process that ended before it began with the file."""

    def record(self, process: Process | None) -> Record:
        """The record of the first process that came through."""
        ends = time.monotonic() + self.job.seconds
        for _ in range(MOST_DEATHS):
            left = max(1.0, ends - time.monotonic()) if self.without else self.job.seconds
            current = process or Process()
            process = None
            current.give(replace(self.job, seconds=left, without=self.without))
            try:
                found = self._listen(current)
            finally:
                current.end()
            if found is not None:
                printed = current.printed.beginning()
                notes = (*found.notes, *(["prints"] if printed else []))
                return replace(found, printed=printed, notes=notes)
        return self._given_up()

    def _listen(self, process: Process) -> Record | None:
        """The record; None if the process has to be started again without one more probe."""
        doing: Step | None = None
        for kind, content in process.heard():
            if kind == "step":
                doing = content
            elif kind == "record":
                return content
            elif kind == "wrong-exercise":
                raise ConfigurationError(content)
            elif kind == "garbage":
                return self._failed(
                    failure(
                        "died",
                        "the process sent something that is not a record",
                        "プロセスが記録ではないものを送りました",
                    )
                )
            else:
                process.end()
                return self._ended(process, doing, content if kind == "died" else None)
        return None

    def _ended(self, process: Process, doing: Step | None, status: int | None) -> Record | None:
        """What to make of a process that ended without a record."""
        hung = status is None or process.timed_out()
        line = process.last_line(self.job.file)
        lines = self.job.source.splitlines()
        source = lines[line - 1].strip() if line and line <= len(lines) else ""
        what = Raised(
            HANGING if hung else DYING,
            "did not come back" if hung else _told(status or 0),
            line,
            source,
        )
        if doing is None:
            self.unstarted = what
            return None
        if doing.probe:
            self.without[doing.probe] = what
            return None
        return self._failed(_at_import(what))

    def _given_up(self) -> Record:
        """A failure after too many probes that ended the process."""
        if not self.without:
            return self._failed(
                failure(
                    "died",
                    "Python could not be started in another process: {told}",
                    "別のプロセスで Python を起動できませんでした: {told}",
                    told=self.unstarted.message if self.unstarted else "",
                )
            )
        what = list(self.without.values())[-1]
        outcomes = {name: Outcome(raised=each) for name, each in self.without.items()}
        if what.kind == HANGING:
            failed = failure(
                "timeout",
                "one call after another did not come back",
                "どの呼び出しも戻ってきませんでした",
                raised=what,
            )
        else:
            failed = failure(
                "died",
                "one call after another ended the process: {told}",
                "呼び出しのたびにプロセスが終了しました: {told}",
                raised=what,
                told=what.message,
            )
        return replace(self._failed(failed), outcomes=outcomes)

    def _failed(self, failed: Failure) -> Record:
        name = self.job.function or Path(self.job.exercise).stem
        return Record(name, self.job.file, Style(), {}, failed)


def _at_import(what: Raised) -> Failure:
    if what.kind == HANGING:
        return failure(
            "timeout",
            "running the file itself did not come back",
            "ファイルの実行が終わりませんでした",
            raised=what,
        )
    return failure(
        "died",
        "the process ended while the file was run: {told}",
        "ファイルの実行中にプロセスが終了しました: {told}",
        raised=what,
        told=what.message,
    )


def _told(status: int) -> str:
    """How a process ended, the same in every language."""
    if status >= 0:
        return f"exit status {status}"
    try:
        return f"signal {-status} ({signal.Signals(-status).name})"
    except ValueError:
        return f"signal {-status}"
