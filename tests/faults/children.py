"""Processes that start at once: forked from a server that has imported everything.

`multiprocessing` keeps that server. Each child has a session of its own, so that nothing it leaves
behind goes unseen, and the signal handlers of a program that was just started.
"""

import multiprocessing
import os
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

PATIENCE = 120
"""Seconds after which a process that does not end is called hung, on however busy a machine."""

PRELOADED = [
    "clearformer.cli.main",
    "clearformer.cli.evaluate",
    "clearformer.cli.generate",
    "clearformer.cli.progress",
    "clearformer.cli.train",
    "clearformer.engines.numpy",
    "clearformer.runs.train",
    "faults.programs",
    "safetensors",
    "threadpoolctl",
]


class Child:
    """A function that runs in a process of its own; what it prints goes to files."""

    def __init__(self, folder: Path, target: Callable[..., Any], *arguments: Any) -> None:
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(PRELOADED)
        self.out, self.err = (folder / f"{id(self)}.{name}" for name in ("out", "err"))
        self._process = context.Process(
            target=_begin, args=(self.out, self.err, target, arguments), daemon=True
        )
        self._process.start()
        self.pid: int = self._process.pid or 0

    def send(self, number: int) -> None:
        """Sends it a signal, unless it has ended."""
        with suppress(ProcessLookupError):
            if self._process.is_alive():
                os.kill(self.pid, number)

    def is_alive(self) -> bool:
        """Whether it runs."""
        return self._process.is_alive()

    def end(self) -> int:
        """Waits for its end; returns its exit status, or minus the signal that ended it."""
        self._process.join(PATIENCE)
        if self._process.exitcode is None:
            self.kill()
            raise AssertionError(f"it hung: {self.told()}")
        return self._process.exitcode

    def kill(self) -> None:
        """Ends it as a power cut would, and everything it has started."""
        self.send(signal.SIGKILL)
        self._process.join(PATIENCE)

    def told(self) -> str:
        """What it has printed to standard error."""
        return self.err.read_text("utf-8") if self.err.exists() else ""

    def left_processes(self) -> bool:
        """Whether a process that it has started is still there after its end."""
        try:
            os.killpg(self.pid, 0)
        except ProcessLookupError:
            return False
        return True


def _begin(out: Path, err: Path, target: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    os.setsid()
    for number, path in ((1, out), (2, err)):
        sys.stdout.flush()
        sys.stderr.flush()
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
        os.dup2(descriptor, number)
        os.close(descriptor)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    status = 0
    try:
        target(*arguments)
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else 0
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)  # before a signal that comes late can change the status


def wait_until(
    is_so: Callable[[], bool], child: Child | None = None, seconds: float = PATIENCE
) -> None:
    """Returns when it is so; raises when it never comes, or when the child has ended before."""
    deadline = time.monotonic() + seconds
    while not is_so():
        if child is not None and not child.is_alive() and not is_so():
            raise AssertionError(f"it ended: {child.told()}")
        if time.monotonic() > deadline:
            raise AssertionError(f"it never came: {child.told() if child else ''}")
        time.sleep(0.005)
