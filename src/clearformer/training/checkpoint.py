"""Saves of a training run that survive a crash at any moment and are read only if intact.

A save is written as `step-000250.tmp/`, each file synced, the manifest last; then it is renamed
to `step-000250/` and the parent folder synced. Older ones go afterwards. The latest save is the
one of the highest step whose manifest verifies.
"""

import operator
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from clearformer.errors import ConfigurationError, RunError
from clearformer.tensor import Shaped
from clearformer.training import manifest, saves, strict_json, tensor_file
from clearformer.training.durable import (
    Piece,
    free_bytes,
    in_one_line,
    rename,
    sync_folder,
    write_file,
)
from clearformer.training.saves import remove_stale

__all__ = [
    "Checkpoint",
    "latest_model",
    "latest_state",
    "load_checkpoint",
    "load_latest",
    "remove_stale",
    "save_checkpoint",
]

MODEL, OPTIMIZER, STATE = manifest.FILES

FOLDER_BYTES = 64 * 1024
"""What folders and part-filled disk blocks may take beside the files."""

MOST_TRIES = 10
"""A run that trains on may take saves away while they are read, hardly ever so often."""

Arrays = Mapping[str, Shaped[np.ndarray, "..."]]
Contents = dict[str, tuple[int, Iterable[Piece]]]
"""For each file its size in bytes and its pieces."""


@dataclass(frozen=True)
class Checkpoint:
    """A save as it was read back; its arrays are copies and may be written to."""

    path: Path
    """Folder of the save."""

    step: int
    """Updates made before the save."""

    model: dict[str, Shaped[np.ndarray, "..."]]
    """Parameters by name."""

    optimizer: dict[str, Shaped[np.ndarray, "..."]]
    """Arrays of the optimizer by name; empty from `latest_model`."""

    state: dict[str, object]
    """Schedule, random generators, position in the data: plain JSON."""

    notes: tuple[str, ...] = ()
    """Which newer saves were passed over, and why; one sentence each."""


def save_checkpoint(
    folder: Path,
    step: int,
    *,
    model: Arrays,
    optimizer: Arrays,
    state: Mapping[str, object],
    keep: int = 2,
) -> Path:
    """Saves a run after `step` updates as `folder/step-NNNNNN` and returns that path.

    Afterwards only the newest `keep` good saves stay. A good save of the same step is left as
    it is; a damaged one is replaced.

    Raises:
        ConfigurationError: a negative step, or `keep` below 1.
        RunError: no space, no permission, or something that cannot be saved; earlier saves
            are as they were and nothing half-written stays.
    """
    step = operator.index(step)
    if step < 0 or keep < 1:
        raise ConfigurationError(
            f"a save needs step >= 0 and keep >= 1; got step={step}, keep={keep}"
        )
    final = folder / saves.name_of(step)
    contents = _contents(final, model, optimizer, state)
    needed = sum(size for size, _ in contents.values())
    needed += needed // 10 + FOLDER_BYTES
    with in_one_line("save", final, needed):
        if saves.is_good(final):
            return final
        if not folder.exists():
            folder.mkdir()  # never its parent: a run that was removed does not come back in part
            sync_folder(folder.parent)
        _require_space(folder, needed)
        _write(final, step, contents)
    saves.rotate(folder, keep, final)
    return final


def load_checkpoint(path: Path) -> Checkpoint:
    """Reads one save, all of it, after checking every file against the manifest.

    Raises:
        RunError: missing, damaged, or of a newer format.
    """
    return _read(path, manifest.FILES)


def load_latest(folder: Path) -> Checkpoint:
    """Reads the intact save of the highest step in `folder`; what was passed over is in `notes`.

    Raises:
        RunError: no save, or none intact.
    """
    return _read_latest(folder, manifest.FILES)


def latest_model(folder: Path) -> Checkpoint:
    """As `load_latest`, for generating text: the optimizer is neither checked nor read.

    Raises:
        RunError: no save, or none with an intact model.
    """
    return _read_latest(folder, (MODEL, STATE))


def latest_state(folder: Path) -> Checkpoint:
    """As `load_latest`, to know what it is a save of: weights are neither checked nor read.

    Raises:
        RunError: no save, or none with an intact state.
    """
    return _read_latest(folder, (STATE,))


def _contents(
    final: Path, model: Arrays, optimizer: Arrays, state: Mapping[str, object]
) -> Contents:
    encoded = strict_json.encode(state, str(final / STATE))
    return {
        MODEL: tensor_file.encode(model, str(final / MODEL)),
        OPTIMIZER: tensor_file.encode(optimizer, str(final / OPTIMIZER)),
        STATE: (len(encoded), [encoded]),
    }


def _require_space(folder: Path, needed: int) -> None:
    free = free_bytes(folder)
    if free is not None and free < needed:
        raise RunError(
            f"cannot save in {folder}: {needed:,} bytes needed, {free:,} free;"
            " make space or choose another --out"
        )


def _write(final: Path, step: int, contents: Contents) -> None:
    temporary = final.with_name(final.name + ".tmp")
    if temporary.exists():
        shutil.rmtree(temporary)
    try:
        temporary.mkdir()
        written = {
            name: write_file(temporary / name, pieces) for name, (_, pieces) in contents.items()
        }
        manifest.write(temporary, manifest.Manifest(step, written))
        sync_folder(temporary)
        if final.exists():  # and damaged
            saves.remove(final)
        rename(temporary, final)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise
    sync_folder(final.parent)


def _read(path: Path, names: Sequence[str], notes: Iterable[str] = ()) -> Checkpoint:
    with in_one_line("read", path):
        if not path.is_dir():
            raise RunError(f"there is no save at {path}")
        saved = manifest.read(path)
        if saves.FINISHED.fullmatch(path.name) and path.name != saves.name_of(saved.step):
            raise RunError(f"{path} is damaged: its manifest is of step {saved.step}")
        manifest.verify(path, saved, names)
        return Checkpoint(
            path=path,
            step=saved.step,
            model=tensor_file.read(path / MODEL) if MODEL in names else {},
            optimizer=tensor_file.read(path / OPTIMIZER) if OPTIMIZER in names else {},
            state=strict_json.read(path / STATE),
            notes=tuple(notes),
        )


def _read_latest(folder: Path, names: Sequence[str]) -> Checkpoint:
    for _ in range(MOST_TRIES):
        there, notes = saves.names_in(folder), list[str]()
        for _, path in saves.finished(folder):
            try:
                return _read(path, names, notes)
            except RunError as error:
                notes.append(f"{path.name} was passed over: {error}")
        if saves.names_in(folder) == there:
            break  # else a run saved, and took old saves away, while this was read
    if notes:
        raise RunError(f"no intact save in {folder}: {'; '.join(notes)}")
    raise RunError(f"no save in {folder}: expected a folder step-NNNNNN; nothing was saved yet")
