"""The parent's side of the process in which an answer runs."""

import contextlib
import os
import queue
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from clearformer.checking.running.job import MESSAGES, Job, Step
from clearformer.checking.running.printed import KEPT
from clearformer.checking.running.wire import GarbageError, receive, send

SLACK = 2.0
"""Seconds after which a process that should have ended itself is ended."""

LONGEST_START = 60.0
"""Seconds for Python, NumPy and perhaps PyTorch to be loaded."""

JOIN = 1.0
"""Seconds for what is still in the pipes; something left over may hold them open for ever."""

TAIL = 8000
"""Bytes that are kept of the end of what is printed: there Python says where it died."""

_ROOT = Path(__file__).parents[3]
_MODULE = "clearformer.checking.running.child"
_WITH_TORCH = "child.load_torch(); "
_ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


_DYING = re.compile(r"^(?:Timeout \(\d|Fatal Python error: )", re.MULTILINE)


class Process:
    """A process that is started at once and waits for its one job.

    Starting it early, and having the next ready while a person writes, saves the time that
    loading takes.
    """

    def __init__(self, *, torch: bool = False):
        load = f"import sys; sys.path.append({str(_ROOT)!r}); "
        load += f"import {_MODULE} as child; " + (_WITH_TORCH if torch else "")
        self.popen = subprocess.Popen(
            [sys.executable, "-P", "-c", f"{load}child.main()"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=_environment(),
            start_new_session=True,
        )
        self.ended = False
        self.printed = _Printed(_open(self.popen.stderr))
        self.messages: queue.SimpleQueue[tuple[str, Any]] = queue.SimpleQueue()
        self.listener = threading.Thread(target=self._listen, daemon=True)
        self.listener.start()

    def give(self, job: Job) -> None:
        """Tells the process what to do; what it says comes from `heard`."""
        with contextlib.suppress(OSError):  # it is dead, which is heard
            send(_open(self.popen.stdin), "job", job)

    def heard(self) -> Iterator[tuple[str, Any]]:
        """What the process says, as (kind, content), until it ends or says nothing in time.

        The kinds are those of `MESSAGES`, and at the end one of "died" (with the status),
        "silent" or "garbage".
        """
        seconds = LONGEST_START
        while True:
            try:
                kind, content = self.messages.get(timeout=seconds)
            except queue.Empty:
                yield "silent", None
                return
            yield kind, content
            if kind in ("died", "garbage"):
                return
            seconds = content.seconds + SLACK if isinstance(content, Step) else LONGEST_START

    def _listen(self) -> None:
        try:
            with _open(self.popen.stdout) as stream:
                while (message := receive(stream, MESSAGES)) is not None:
                    self.messages.put(message)
        except GarbageError:
            self.messages.put(("garbage", None))
        except (OSError, ValueError):
            pass
        try:
            self.messages.put(("died", self.popen.wait(SLACK)))
        except subprocess.TimeoutExpired:
            self.messages.put(("garbage", None))

    def end(self) -> None:
        """Ends the process and all that it started in its group; again does nothing."""
        if self.ended:
            return
        self.ended = True
        try:
            if hasattr(os, "killpg"):
                os.killpg(self.popen.pid, signal.SIGKILL)
            else:
                self.popen.kill()
        except OSError:
            pass  # it has ended by itself
        self.popen.wait()
        with contextlib.suppress(OSError):
            _open(self.popen.stdin).close()
        self.listener.join(JOIN)
        self.printed.wait()

    def last_line(self, file: str) -> int | None:
        """The line of `file` that was running when the process died, if Python could say it."""
        said = self.printed.end().rpartition("(most recent call first)")[2]
        found = re.search(rf'File "{re.escape(file)}", line (\d+)', said)
        return int(found[1]) if found else None

    def timed_out(self) -> bool:
        """Whether the process ended itself because a call did not come back."""
        return "Timeout (" in self.printed.end()


class _Printed:
    """Reads all that is printed and keeps the beginning and the end."""

    def __init__(self, stream: BinaryIO):
        self.stream = stream
        self.first, self.last = b"", b""
        self.thread = threading.Thread(target=self._read, daemon=True)
        self.thread.start()

    def _read(self) -> None:
        try:
            with self.stream:
                while data := os.read(self.stream.fileno(), 2**16):
                    self.first += data[: max(0, 4 * KEPT - len(self.first))]
                    self.last = (self.last + data)[-TAIL:]
        except (OSError, ValueError):
            pass

    def wait(self) -> None:
        """Until all is read; not for ever, since something left over may hold the pipe open."""
        self.thread.join(JOIN)

    def beginning(self) -> str:
        """What was printed first, without what Python said when it was ended."""
        said = self.first.decode("utf-8", "replace")
        return _DYING.split(said, 1)[0][:KEPT]

    def end(self) -> str:
        """What was printed last."""
        return self.last.decode("utf-8", "replace")


def _open(stream: Any) -> BinaryIO:
    """The pipe, which is there because it was asked for."""
    return stream


def _environment() -> dict[str, str]:
    """Plots are drawn nowhere, one thread computes, and what is printed is UTF-8."""
    return {
        **os.environ,
        **dict.fromkeys(_ONE_THREAD, "1"),
        "MPLBACKEND": "Agg",
        "PYTHONIOENCODING": "utf-8:backslashreplace",
        "PYTHONHASHSEED": "0",
    }
