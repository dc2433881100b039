"""Writing to disk so that it is still there after a crash or a power cut.

A file is on disk once it is synced, and its name once its folder is. Whatever replaces
something is first written in full under another name, then renamed: the old or the new is
there at every moment, never half of either.
"""

import errno
import hashlib
import io
import os
import shutil
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, cast

from clearformer.errors import RunError
from clearformer.text.ordinary_file import open_ordinary, ordinary

Piece = bytes | memoryview
"""Some of what a file will hold; a memoryview is one of bytes."""

FULL_DISK = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""No space, no more of a person's share of it, no more in one file."""

NO_LINKS = getattr(os, "O_NOFOLLOW", 0)
"""Opens nothing through a symbolic link, where the system can be told so."""

NOT_FOR_FOLDERS = (errno.EINVAL, errno.ENOTSUP)
"""How file systems say that a folder cannot be synced (it then needs no sync)."""

BUSY_ON_WINDOWS = (5, 32)
"""Access denied, sharing violation: a virus scanner or an indexer looks at the file just then."""

FEW = 4096
"""Bytes that a name or a short text takes: one block of most file systems."""

PATIENCE = (0.01, 0.05, 0.1, 0.2, 0.5, 1.0)
"""Seconds to wait between tries of a rename that Windows refuses."""


@dataclass(frozen=True)
class Written:
    """What a file holds, enough to recognise it later."""

    bytes: int
    """Size of the file."""

    sha256: str
    """Digest of the content, 64 hexadecimal digits."""


@contextmanager
def in_one_line(doing: str, path: Path, needed: int = FEW) -> Iterator[None]:
    """Turns any OSError inside into a `RunError`: what was done, the path and the reason.

    Args:
        doing: what is tried, as in "cannot {doing} {path}".
        path: what it is tried on.
        needed: bytes that are about to be written, told when the disk is full.
    """
    try:
        yield
    except RunError:
        raise
    except OSError as error:
        reason = error.strerror or str(error) or type(error).__name__
        if error.errno in FULL_DISK:
            reason += f" ({needed:,} bytes needed, {_free_in_words(path)} free)"
        raise RunError(f"cannot {doing} {path}: {reason}") from error


def write_file(path: Path, pieces: Iterable[Piece]) -> Written:
    """Writes a new file piece by piece and syncs it; an existing `path` is an error.

    Raises:
        OSError: the system refuses; the file may be there in part.
    """
    digest = hashlib.sha256()
    size = 0
    with path.open("xb") as file:
        for piece in pieces:
            file.write(piece)
            digest.update(piece)
            size += len(piece)
        file.flush()
        sync(file.fileno())
    return Written(size, digest.hexdigest())


def read_file(path: Path) -> bytes:
    """Returns what an ordinary file holds.

    Raises:
        OSError: the system refuses, or it is a pipe, a device or the like.
    """
    with open_ordinary(path) as file:
        return file.read()


def open_to_append(path: Path, mode: str) -> BinaryIO:
    """Opens a file of a run for appending, but not through a link.

    A run may come from somebody else, and a link in it could lead to any file of its reader's.

    Raises:
        OSError: the system refuses, or it is a link, a pipe, a device or the like.
    """
    return cast(BinaryIO, io.open(path, mode, opener=_open_no_link))  # noqa: UP020


def replace_file(path: Path, content: bytes) -> None:
    """Puts `content` at `path`, whole or not at all, by way of `path` + `.tmp`.

    Raises:
        OSError: the system refuses; what was at `path` is still there.
    """
    temporary = path.with_name(path.name + ".tmp")
    temporary.unlink(missing_ok=True)
    try:
        write_file(temporary, [content])
        rename(temporary, path)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise
    sync_folder(path.parent)


def rename(source: Path, target: Path) -> None:
    """Renames, over an existing file if there is one; tries again where Windows says busy.

    Raises:
        OSError: the system refuses, at once or after the last try.
    """
    for seconds in PATIENCE:
        try:
            source.replace(target)
        except OSError as error:
            if getattr(error, "winerror", None) not in BUSY_ON_WINDOWS:
                raise
            time.sleep(seconds)
        else:
            return
    source.replace(target)


def sync(descriptor: int) -> None:
    """Returns once the content of an open file is on the disk itself."""
    if sys.platform == "darwin":  # there fsync leaves it in the drive's own memory
        import fcntl

        with suppress(OSError):
            fcntl.fcntl(descriptor, fcntl.F_FULLFSYNC)
            return
    os.fsync(descriptor)


def sync_folder(folder: Path) -> None:
    """Returns once the names in `folder` are on the disk; Windows keeps them by itself."""
    if sys.platform == "win32":
        return
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in NOT_FOR_FOLDERS:
            raise
    finally:
        os.close(descriptor)


def free_bytes(folder: Path) -> int | None:
    """Returns what is free on the disk of `folder` in bytes, or None where it does not tell."""
    space = shutil.disk_usage(folder)
    return space.free if space.total > 0 else None


def _open_no_link(path: str, flags: int) -> int:
    return ordinary(path, flags | NO_LINKS)


def _free_in_words(path: Path) -> str:
    with suppress(OSError):
        folder = next(parent for parent in (path, *path.parents) if parent.is_dir())
        free = free_bytes(folder)
        if free is not None:
            return f"{free:,}"
    return "an unknown number"
