"""Names of folders that every system takes, so that a run can move to any of them."""

import os
import re
import unicodedata
from contextlib import suppress
from pathlib import Path

from clearformer.errors import RunError

FORBIDDEN = re.compile(r'[\x00-\x1f<>:"/\\|?*]')
"""What Windows does not take inside a name."""

RESERVED = re.compile(r"(con|prn|aux|nul|(com|lpt)[0-9])", re.IGNORECASE)
"""Device names of Windows, which it takes for no file, with or without an ending."""

LONGEST = 255
"""UTF-8 bytes, what common file systems take."""


def require_portable(path: Path) -> None:
    """Refuses the name of a folder that is about to be made if not every system would take it.

    Raises:
        RunError: what is wrong with the name, or which other one differs from it only in case.
    """
    fault = fault_of(path.name)
    if fault:
        raise RunError(
            f"{str(path)!a} cannot be made: {fault}; choose a name that every system takes"
        )
    other = namesake(path)
    if other and other != path.name:
        raise RunError(
            f"{path} cannot be made: {other!a} is there, and many systems take both names for"
            " the same; choose another"
        )


def fault_of(name: str) -> str | None:
    """Returns what some system has against a name, None if all of them take it."""
    if name == "..":
        return None
    found = FORBIDDEN.search(name)
    if found:
        return f"its name holds {found[0]!a}, which Windows does not take"
    if name.endswith((".", " ")):
        return "its name ends in a dot or a blank, which Windows drops"
    stem = unicodedata.normalize("NFKC", name.partition(".")[0].rstrip())
    if RESERVED.fullmatch(stem):
        return f"on Windows {stem} is a device"
    try:
        length = len(name.encode("utf-8"))
    except UnicodeEncodeError:
        return "its name is not Unicode"
    if length > LONGEST:
        return f"its name has {length:,} bytes; at most {LONGEST} are taken"
    return None


def namesake(path: Path) -> str | None:
    """Returns the name of what lies in the place of `path`, on this system or another.

    A folder that cannot be listed is taken to hold nothing else.
    """
    if os.path.lexists(path):
        return path.name
    with suppress(OSError, ValueError):
        for other in path.parent.iterdir():
            if _folded(other.name) == _folded(path.name):
                return other.name
    return None


def _folded(name: str) -> str:
    """What systems without case, or with another normal form of Unicode, compare."""
    return unicodedata.normalize("NFC", name).casefold()
