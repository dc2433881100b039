"""The saves in a `checkpoints` folder: how they are named, which are there, which may go."""

import re
import shutil
from contextlib import suppress
from pathlib import Path

from clearformer.errors import RunError
from clearformer.training import manifest
from clearformer.training.durable import in_one_line, rename

FINISHED = re.compile(r"step-([0-9]{6}|[1-9][0-9]{6,17})")

UNFINISHED = re.compile(FINISHED.pattern + r"(\.old)?\.tmp")
"""A save being written (`.tmp`) or being removed (`.old.tmp`)."""


def name_of(step: int) -> str:
    """Returns the folder name of the save after `step` updates: `step-000250`."""
    return f"step-{step:06d}"


def finished(folder: Path) -> list[tuple[int, Path]]:
    """Returns the step and path of each save in `folder`, good or damaged, newest first.

    Raises:
        RunError: `folder` cannot be listed; a missing one simply holds none.
    """
    found = []
    with in_one_line("list the saves in", folder):
        for path in folder.iterdir() if folder.exists() else ():
            match = FINISHED.fullmatch(path.name)
            if match and path.is_dir():
                found.append((int(match[1]), path))
    return sorted(found, reverse=True)


def names_in(folder: Path) -> frozenset[str]:
    """Returns the name of everything in `folder`; nothing is in a missing one.

    Raises:
        RunError: `folder` cannot be listed.
    """
    with in_one_line("list the saves in", folder):
        there = folder.iterdir() if folder.exists() else ()
        return frozenset(path.name for path in there)


def remove(save: Path) -> None:
    """Takes a save away so that no half of it can be met under its name at any moment.

    Raises:
        OSError: the system refuses; at worst a folder in `UNFINISHED` stays.
    """
    old = save.with_name(save.name + ".old.tmp")
    if old.exists():
        shutil.rmtree(old)
    rename(save, old)
    shutil.rmtree(old)


def rotate(folder: Path, keep: int, newest: Path) -> None:
    """Removes saves older than the `keep` newest good ones; `newest`, just written, is good.

    What the system does not let go of stays until the next time: training matters more.
    """
    good = 0
    with suppress(OSError):
        for _, path in finished(folder):
            if path == newest:
                good += 1
            elif good < keep:
                good += _is_surely_good(path)
            elif not path.is_symlink():
                with suppress(OSError):
                    remove(path)


def is_good(save: Path) -> bool:
    """Tells whether every file of a save is as its manifest says.

    Raises:
        OSError: it cannot be read now, so nobody knows.
    """
    try:
        contents = manifest.read(save)
        manifest.verify(save, contents)
    except RunError:
        return False
    return save.name == name_of(contents.step)


def _is_surely_good(save: Path) -> bool:
    with suppress(OSError):
        return is_good(save)
    return False


def remove_stale(folder: Path) -> tuple[str, ...]:
    """Removes what interrupted saves left in `folder` and returns the names of it.

    Call it while holding the run's lock. Only real folders named as in `UNFINISHED` are touched.

    Raises:
        RunError: something cannot be removed.
    """
    removed = []
    with in_one_line("remove interrupted saves from", folder):
        for path in sorted(folder.iterdir()) if folder.exists() else ():
            if UNFINISHED.fullmatch(path.name) and path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
                removed.append(path.name)
    return tuple(removed)
