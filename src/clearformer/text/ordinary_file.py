"""Opens ordinary files only: a pipe would be waited for, and a device can be without an end."""

import errno
import io
import os
import stat
from pathlib import Path

NO_WAIT = getattr(os, "O_NONBLOCK", 0)
"""Makes opening a pipe come back at once; of ordinary files it changes nothing."""


def open_ordinary(path: Path) -> io.BufferedReader:
    """Opens a file for reading bytes.

    Raises:
        OSError: the system refuses, or it is a pipe, a device or the like.
    """
    return io.open(path, "rb", opener=ordinary)  # noqa: UP020


def ordinary(path: str, flags: int) -> int:
    """Opens as `os.open` does: the `opener` of whoever opens a file that others may have put there.

    Raises:
        OSError: the system refuses, or it is a pipe, a device or the like.
    """
    descriptor = os.open(path, flags | NO_WAIT, 0o666)
    mode = os.fstat(descriptor).st_mode
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):  # Python itself refuses a folder
        os.close(descriptor)
        raise OSError(errno.EINVAL, "it is a pipe or a device, expected an ordinary file", path)
    return descriptor
