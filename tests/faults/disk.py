"""A disk that fails: hears every call on files below a folder and makes the n-th go wrong.

The calls are those of Python (`os.fsync`, `io.open` and the objects it returns …), replaced for as
long as one is inside, so no privilege and no special file system is needed. A process that must not
survive its n-th call kills itself with SIGKILL: nothing that it would still do happens.
"""

import errno
import io
import os
import random
import re
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

ERRORS = tuple(
    getattr(errno, name) for name in ("ENOSPC", "EIO", "EACCES", "EROFS", "EMFILE", "EINTR")
)

WAYS_TO_FAIL = [(error, False) for error in ERRORS] + [
    (error, True) for error in ERRORS if error != errno.EINTR
]
"""Errors, and whether all later calls meet them, too; only the signal behind EINTR comes once."""

MOMENTS = ("before", "half")
"""When a process dies: before a call (after the one before it, that is), or half-way through."""

PATHS = ("open", "mkdir", "rmdir", "unlink", "remove", "replace", "rename", "listdir", "scandir")
"""Functions of `os` that are given a path."""

NUMBERS = ("write", "fsync", "ftruncate", "close")
"""Functions of `os` that are given the number of an open file."""


class Disk:
    """`with Disk(folder, …):` hears what happens below `folder`.

    Args:
        root: the folder.
        at: number of the call that goes wrong, counted from 1; 0 for none.
        error: number of the error of the system that it raises, or another exception.
        for_good: whether all later calls fail as well.
        dies: one of MOMENTS; the process kills itself instead of raising.
        forgets: leave out fsync itself, which takes long and guards only against a power cut.

    Attributes:
        calls: what was heard: the name of the function, a blank, the path below `root`.
    """

    def __init__(
        self,
        root: Path,
        *,
        at: int = 0,
        error: int | type[BaseException] | None = None,
        for_good: bool = False,
        dies: str | None = None,
        forgets: bool = True,
    ) -> None:
        self.root = os.path.realpath(root)
        self.at, self.error, self.for_good, self.dies = at, error, for_good, dies
        self.forgets = forgets
        self.calls: list[str] = []
        self._paths: dict[int, str] = {}
        self._real: dict[str, Any] = {name: getattr(os, name) for name in (*PATHS, *NUMBERS)}
        self._real_open = io.open

    @property
    def met(self) -> bool:
        """Whether the call that was to go wrong was made at all."""
        return 0 < self.at <= len(self.calls)

    def __enter__(self) -> "Disk":
        for name in PATHS:
            setattr(os, name, self._with_path(name))
        for name in NUMBERS:
            setattr(os, name, self._with_number(name))
        io.open = self._open_file
        return self

    def __exit__(self, *_: object) -> None:
        for name, real in self._real.items():
            setattr(os, name, real)
        io.open = self._real_open

    def below(self, path: Any, folder: int | None = None) -> str | None:
        """`path` relative to the root; None for what lies elsewhere."""
        if isinstance(path, int):
            return self._paths.get(path)
        name = os.fsdecode(path)
        if folder is not None:
            parent = self._paths.get(folder)
            return None if parent is None else os.path.normpath(f"{parent}/{name}")
        whole = os.path.abspath(name)  # noqa: PTH100 (follows no link)
        inside = whole == self.root or whole.startswith(self.root + os.sep)
        return os.path.relpath(whole, self.root) if inside else None

    def pass_through(
        self,
        name: str,
        path: str,
        call: Callable[[], Any],
        half: Callable[[], Any] = lambda: None,
        **_: Any,
    ) -> Any:
        """Makes a call, unless this is the one that goes wrong."""
        self.calls.append(f"{name} {path}")
        number = len(self.calls)
        if number != self.at and not (self.for_good and self.at and number > self.at):
            return call()
        if self.dies:
            if self.dies == "half":
                half()
            os.kill(os.getpid(), signal.SIGKILL)
        if self.error is None:
            return call()
        if not isinstance(self.error, int):
            raise self.error
        if self.error != errno.EINTR:  # which says that nothing was done
            half()
        raise OSError(self.error, os.strerror(self.error), path)

    def _with_path(self, name: str) -> Callable[..., Any]:
        real = self._real[name]

        def called(path: Any = ".", *rest: Any, **more: Any) -> Any:
            below = self.below(path, more.get("dir_fd") if name != "rename" else None)
            if below is None:
                return real(path, *rest, **more)
            extra = {}
            if name in ("replace", "rename"):
                extra["target"] = self.below(rest[0])
            elif name == "open":
                extra["flags"] = rest[0] if rest else more.get("flags", 0)
            number = self.pass_through(name, below, lambda: real(path, *rest, **more), **extra)
            if name == "open":
                self._paths[number] = below
            return number

        return called

    def _with_number(self, name: str) -> Callable[..., Any]:
        real = self._real[name]

        def called(number: int, *rest: Any) -> Any:
            path = self._paths.get(number)
            if path is None:
                return real(number, *rest)
            if name == "close":
                del self._paths[number]
                return real(number)
            if name == "write":
                piece = rest[0]
                return self.pass_through(
                    name,
                    path,
                    lambda: real(number, piece),
                    lambda: real(number, piece[: len(piece) // 2]),
                    data=bytes(piece),
                    offset=os.lseek(number, 0, os.SEEK_CUR),
                )
            if name == "fsync":
                return self.pass_through(name, path, lambda: self.forgets or real(number))
            return self.pass_through(name, path, lambda: real(number, *rest), size=rest[0])

        return called

    def _open_file(self, file: Any, mode: str = "r", *rest: Any, **more: Any) -> Any:
        below = None if isinstance(file, int) else self.below(file)
        if below is None:
            return self._real_open(file, mode, *rest, **more)
        opener = more.pop("opener", None)
        bare = mode.replace("b", "").replace("t", "")
        flags = {"r": 0, "w": os.O_CREAT | os.O_TRUNC, "a": os.O_CREAT, "x": os.O_CREAT}[bare[0]]
        if opener is not None:  # which calls os.open
            raw = _Raw(self, below, file, bare, opener)
        else:
            raw = self.pass_through(
                "open", below, lambda: _Raw(self, below, file, bare), flags=flags
            )
        kind: Any = io.BufferedWriter
        if "+" in mode:
            kind = io.BufferedRandom
        elif bare[0] == "r":
            kind = io.BufferedReader
        held = kind(raw)
        return held if "b" in mode else io.TextIOWrapper(held, *rest[1:], **more)


def of_each_kind_first(calls: list[str], luck: random.Random) -> list[int]:
    """The numbers of all calls, shuffled, but so that each kind of call is met early."""
    numbers = list(range(1, len(calls) + 1))
    luck.shuffle(numbers)
    first: dict[str, int] = {}
    for number in numbers:
        first.setdefault(re.sub("[0-9]+", "N", calls[number - 1]), number)
    late = set(numbers) - set(first.values())
    return [*first.values(), *(number for number in numbers if number in late)]


def ways_to_fail(calls: list[str], luck: random.Random) -> list[tuple[int, tuple[int, bool]]]:
    """Each call by its number with each of WAYS_TO_FAIL, both in turn."""
    order, ways = of_each_kind_first(calls, luck), len(WAYS_TO_FAIL)
    return [
        (number, WAYS_TO_FAIL[(place + turn) % ways])
        for turn in range(ways)
        for place, number in enumerate(order)
    ]


def ways_to_die(calls: list[str], luck: random.Random) -> list[tuple[int, str]]:
    """Each call by its number with the moment to die: before it, and half-way through a write."""
    order = of_each_kind_first(calls, luck)
    half = [(number, "half") for number in order if calls[number - 1].startswith("write ")]
    before = [(number, "before") for number in order]
    return [*half[: len(half) // 4], *before, *half[len(half) // 4 :]]


class _Raw(io.FileIO):
    """An open file without a buffer, whose reads and writes are heard."""

    def __init__(self, disk: Disk, path: str, file: Any, mode: str, opener: Any = None) -> None:
        self._disk, self._path = disk, path
        super().__init__(file, mode, opener=opener)
        disk._paths[self.fileno()] = path

    def write(self, piece: Any) -> int:
        return self._disk.pass_through(
            "write",
            self._path,
            lambda: super(_Raw, self).write(piece),
            lambda: super(_Raw, self).write(piece[: len(piece) // 2]),
            data=bytes(piece),
            offset=self.seek(0, os.SEEK_END) if "a" in self.mode else self.tell(),
        )

    def readinto(self, buffer: Any) -> int:
        return self._disk.pass_through(
            "read", self._path, lambda: super(_Raw, self).readinto(buffer)
        )

    def readall(self) -> bytes:
        return self._disk.pass_through("read", self._path, lambda: super(_Raw, self).readall())

    def truncate(self, size: int | None = None) -> int:
        there = self.tell() if size is None else size
        return self._disk.pass_through(
            "ftruncate", self._path, lambda: super(_Raw, self).truncate(there), size=there
        )

    def close(self) -> None:
        if not self.closed:
            self._disk._paths.pop(self.fileno(), None)
        super().close()
