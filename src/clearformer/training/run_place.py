"""Where a run may begin: in a folder that is new, empty, or left by a start that never began."""

import os
from contextlib import suppress
from pathlib import Path

from clearformer.errors import RunError
from clearformer.training import lock, run_log, saves
from clearformer.training.durable import sync_folder
from clearformer.training.pickles import is_pickle, refusal
from clearformer.training.portable_name import require_portable

CONFIGURATION, TOKENIZER, SAMPLES = "run.json", "tokenizer.json", "samples.txt"

WRITTEN = (CONFIGURATION, TOKENIZER, run_log.NAME, SAMPLES)
"""Files of a run that others replace whole, by way of a temporary one."""

UNFINISHED = tuple(f"{name}.tmp" for name in WRITTEN)
"""What a process that was killed may leave of them."""

FILES = (*WRITTEN, *UNFINISHED, lock.NAME)
"""Every file of a run beside its saves."""


def take_place(path: Path) -> tuple[Path, ...]:
    """Makes sure that a run may begin at `path` and makes the folders that are missing.

    Returns:
        the folders it made, innermost first.

    Raises:
        RunError: it holds a run already or other files, is a file, has a name that some system
            does not take, or cannot be written to.
        OSError: the system refuses.
    """
    refuse_taken(path)
    made = _make_folders(path)
    if not os.access(path, os.W_OK | os.X_OK):
        raise RunError(f"cannot write to {path}: expected permission; choose another --out")
    return made


def refuse_taken(path: Path) -> None:
    """Raises unless `path` is missing, empty, or left by a start that never configured a run.

    Raises:
        RunError: what is there instead.
        OSError: the system refuses to tell.
    """
    if not os.path.exists(path):  # noqa: PTH110 (Path.exists raises where a name is too long)
        return
    if is_pickle(path):
        raise RunError(f"{refusal(path)}; and choose another --out")
    if not path.is_dir():
        raise RunError(f"{path} is a file: expected a folder for the run; choose another --out")
    there = {entry.name: entry.is_symlink() for entry in path.iterdir()}
    if CONFIGURATION in there:
        holder = lock.holder_of(path)
        if holder and not lock.is_me(holder):
            raise RunError(f"{path} is in use by {holder}; choose another --out")
        raise RunError(
            f"{path} already holds a run; continue it with --resume, or choose another --out"
        )
    own = {*FILES, "checkpoints"} if lock.NAME in there else set()
    others = sorted(name for name, is_link in there.items() if is_link or name not in own)
    if not others and saves.finished(path / "checkpoints"):
        others = ["checkpoints"]
    if others:
        raise RunError(
            f"{path} holds other files ({others[0]!a}): expected a new or empty folder;"
            " choose another --out"
        )


def _make_folders(path: Path) -> tuple[Path, ...]:
    """Makes `path` and its missing parents; returns those this process made, innermost first."""
    missing = [folder for folder in (path, *path.parents) if not os.path.exists(folder)]  # noqa: PTH110
    for folder in missing:
        require_portable(folder)
    made: list[Path] = []
    try:
        for folder in reversed(missing):
            try:
                folder.mkdir()
            except FileExistsError:
                if not folder.is_dir():
                    raise
            else:
                made.insert(0, folder)
                sync_folder(folder.parent)
    except OSError:
        for folder in made:
            with suppress(OSError):
                folder.rmdir()
        raise
    return tuple(made)
