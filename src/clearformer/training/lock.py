"""One process at a time trains in a run folder.

The operating system holds the lock and drops it when the process ends, however it ends; the
file `lock` only tells who holds it. A leftover file therefore never blocks anybody.
"""

import json
import os
import socket
import sys
import time
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from clearformer.errors import RunError
from clearformer.training import strict_json
from clearformer.training.durable import in_one_line

NAME = "lock"

LOCKED_BYTE = 2**30
"""Position that Windows locks, far behind the text, which everybody may read."""

PATIENCE = 0.05
"""Seconds a holder gets to write down who it is before its name is read."""


@dataclass(frozen=True)
class Holder:
    """The process that trains in a folder."""

    pid: int
    """Number of the process."""

    host: str
    """Name of its machine."""

    started: str
    """When it took the lock: UTC, ISO 8601, whole seconds."""

    def __str__(self) -> str:
        return f"process {self.pid} on {self.host} since {self.started}"


class RunLock:
    """`with RunLock(folder):` refuses to begin while another process is inside.

    Raises:
        RunError: taken (it names the holder), or the folder is missing or cannot be locked.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / NAME
        self._descriptor: int | None = None

    def __enter__(self) -> "RunLock":
        with in_one_line("lock", self.path.parent):
            descriptor = _take(self.path)
            if descriptor is None:
                who = _read_holder(self.path) or "another process"
                raise RunError(
                    f"{self.path.parent} is in use: expected to train there alone, found {who};"
                    " wait for it, stop it, or choose another --out"
                )
            try:
                _sign(descriptor)
            except BaseException:  # a full disk; nobody calls __exit__ then
                _release(descriptor)
                raise
            self._descriptor = descriptor
        return self

    def __exit__(self, *_: object) -> None:
        if self._descriptor is not None:
            with suppress(OSError):
                os.ftruncate(self._descriptor, 0)
            _release(self._descriptor)
            self._descriptor = None


def holder_of(folder: Path) -> Holder | str | None:
    """Returns who trains in `folder` now, "another process" if it does not tell, None if nobody.

    Raises:
        RunError: the lock file cannot be opened.
    """
    path = folder / NAME
    if not path.exists():
        return None
    with in_one_line("look at the lock of", folder):
        descriptor = _take(path)
    if descriptor is None:
        return _read_holder(path) or "another process"
    _release(descriptor)
    return None


def is_me(holder: Holder | str) -> bool:
    """Tells whether the holder is this very process."""
    return (
        isinstance(holder, Holder)
        and holder.pid == os.getpid()
        and holder.host == socket.gethostname()
    )


def _take(path: Path) -> int | None:
    """Returns the open and locked file, or None while another process holds it."""
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o666)
        try:
            if not _lock(descriptor):
                os.close(descriptor)
                return None
            if _is_still_there(descriptor, path):
                return descriptor
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)


def _is_still_there(descriptor: int, path: Path) -> bool:
    """Tells whether the locked file is the one others will open (not one just removed)."""
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False


if sys.platform == "win32":
    import msvcrt

    def _lock(descriptor: int) -> bool:
        os.lseek(descriptor, LOCKED_BYTE, os.SEEK_SET)
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except PermissionError:
            return False
        return True

    def _release(descriptor: int) -> None:
        os.lseek(descriptor, LOCKED_BYTE, os.SEEK_SET)
        with suppress(OSError):
            msvcrt.locking(descriptor, msvcrt.LK_UNLCK, 1)
        os.close(descriptor)

else:
    import fcntl

    def _lock(descriptor: int) -> bool:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _release(descriptor: int) -> None:
        os.close(descriptor)


def _sign(descriptor: int) -> None:
    now = datetime.now(UTC).isoformat(timespec="seconds")
    text = json.dumps(asdict(Holder(os.getpid(), socket.gethostname(), now)))
    os.ftruncate(descriptor, 0)
    os.lseek(descriptor, 0, os.SEEK_SET)
    os.write(descriptor, text.encode("utf-8"))


def _read_holder(path: Path) -> Holder | None:
    time.sleep(PATIENCE)
    with suppress(OSError):  # RunError is one
        content = strict_json.read(path, largest=10_000)
        match content:
            case {"pid": int(pid), "host": str(host), "started": str(started)}:
                return Holder(pid, host, started)
    return None
