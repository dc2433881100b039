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
from weakref import WeakSet

from clearformer.errors import RunError
from clearformer.training import strict_json
from clearformer.training.durable import NO_LINKS, in_one_line

NAME = "lock"

FLAGS = os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0) | NO_LINKS
"""How the file is opened: never through a link, for what it leads to would be overwritten."""

LOCKED_BYTE = 2**30
"""Position that Windows locks, far behind the text, which everybody may read."""

PATIENCE = 0.05
"""Seconds a holder gets to write down who it is before its name is read."""

TRIES = 20
"""How often it gets them, where what is read is nothing or the name of a process that is gone."""


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

    def __init__(self, folder: Path, doing: str = "train") -> None:
        self.path = folder / NAME
        self._doing = doing
        self._descriptor: int | None = None

    def __enter__(self) -> "RunLock":
        with in_one_line("lock", self.path.parent):
            descriptor = _take(self.path)
            if descriptor is None:
                who = _read_holder(self.path) or "another process"
                raise RunError(
                    f"{self.path.parent} is in use: expected to {self._doing} there alone, "
                    f"found {who}; wait for it, stop it, or choose another --out"
                )
            try:
                _sign(descriptor)
            except BaseException:  # a full disk; nobody calls __exit__ then
                _release(descriptor)
                raise
            self._descriptor = descriptor
            _HELD.add(self)
        return self

    def __exit__(self, *_: object) -> None:
        if self._descriptor is not None:
            with suppress(OSError):
                os.ftruncate(self._descriptor, 0)
            _release(self._descriptor)
            self._descriptor = None
            _HELD.discard(self)

    def require_held(self) -> None:
        """Raises unless the folder is still the one that was entered.

        If it was removed meanwhile, another run may have begun under its name: what is written
        there now would get into that one.

        Raises:
            RunError: the folder or its lock was removed, moved or replaced.
        """
        with in_one_line("look at the lock of", self.path.parent):
            if self._descriptor is None or not _is_still_there(self._descriptor, self.path):
                raise RunError(
                    f"{self.path.parent} is no longer the folder this run began in: it was"
                    " removed, moved or replaced; nothing more is written there"
                )


_HELD: WeakSet[RunLock] = WeakSet()
"""Locks that this process holds."""


def _let_go_in_child() -> None:
    """A forked child would otherwise hold the lock for as long as it lives, after its parent."""
    for held in list(_HELD):
        if held._descriptor is not None:
            os.close(held._descriptor)
            held._descriptor = None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_let_go_in_child)


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
        descriptor = os.open(path, FLAGS, 0o666)
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
        with suppress(OSError):  # by name, not only by closing: a child may have it open as well
            fcntl.flock(descriptor, fcntl.LOCK_UN)
        os.close(descriptor)


def _sign(descriptor: int) -> None:
    now = datetime.now(UTC).isoformat(timespec="seconds")
    text = json.dumps(asdict(Holder(os.getpid(), socket.gethostname(), now)))
    os.ftruncate(descriptor, 0)
    os.lseek(descriptor, 0, os.SEEK_SET)
    os.write(descriptor, text.encode("utf-8"))


def _read_holder(path: Path) -> Holder | None:
    """Who holds the lock that was just found taken; at worst the last who wrote it down."""
    found = None
    for _ in range(TRIES):
        time.sleep(PATIENCE)
        with suppress(OSError):  # RunError is one
            match strict_json.read(path, largest=10_000):
                case {"pid": int(pid), "host": str(host), "started": str(started)}:
                    found = Holder(pid, host, started)
        if found and not _is_gone(found):
            break
    return found


def _is_gone(holder: Holder) -> bool:
    """Whether the process is known to have ended: killed, its name still stands in the file."""
    if sys.platform == "win32" or holder.host != socket.gethostname():
        return False
    try:
        os.kill(holder.pid, 0)
    except (ProcessLookupError, OverflowError):
        return True
    except OSError:  # it is there, but of somebody else
        return False
    return False
