"""The folder a run lives in: its configuration, tokenizer, log, samples and saves.

RUN/run.json        configuration, written whole or not at all
    tokenizer.json  written by the tokenizer
    log.jsonl       one JSON object per line
    samples.txt     text the model wrote while it learned
    checkpoints/    see `checkpoint`
    lock            see `lock`
"""

import copy
import os
import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from clearformer.errors import RunError
from clearformer.training import lock, run_log, saves, strict_json
from clearformer.training.durable import in_one_line, replace_file, sync_folder
from clearformer.training.run_name import default_run_path

__all__ = ["RunFolder", "default_run_path"]

FORMAT = 1
"""Version of `run.json`; raised when an older program could not read a newer one."""

CONFIGURATION = "run.json"

LARGEST_CONFIGURATION = 10_000_000
"""Bytes of a `run.json`."""

SAMPLE = re.compile(rb"^=== step ([0-9]{1,18}) ===$", re.MULTILINE)
"""The header line of a sample."""

FILES = (
    CONFIGURATION,
    f"{CONFIGURATION}.tmp",
    "tokenizer.json",
    run_log.NAME,
    f"{run_log.NAME}.tmp",
    "samples.txt",
    lock.NAME,
)
"""Every file of a run beside its saves."""


class RunFolder:
    """A run on disk; made by `create` or `open`."""

    def __init__(self, path: Path, made: tuple[Path, ...] = ()) -> None:
        self.path = path
        self._made = made
        self._configuration: dict[str, object] | None = None
        self._is_new = False

    @classmethod
    def create(cls, path: Path) -> "RunFolder":
        """Makes the folder of a new run, and its parents; take its `RunLock` next.

        A folder left by a start that was killed before it had a configuration is used again.

        Raises:
            RunError: it holds a run already or other files, is a file, or cannot be written to.
        """
        with in_one_line("create the run", path):
            _refuse_taken(path)
            run = cls(path, _make_folders(path))
            run._is_new = True
            if not os.access(path, os.W_OK | os.X_OK):
                raise RunError(f"cannot write to {path}: expected permission; choose another --out")
        return run

    @classmethod
    def open(cls, path: Path) -> "RunFolder":
        """Opens the folder of an existing run.

        Raises:
            RunError: missing, not a run, damaged, or written by a newer version.
        """
        with in_one_line("open the run", path):
            if not path.exists():
                raise RunError(
                    f"there is no run at {path}; train one with: clearformer train --out {path}"
                )
            if not (path / CONFIGURATION).is_file():
                raise RunError(
                    f"{path} is not a run: expected a folder with {CONFIGURATION};"
                    " name the folder that clearformer train printed"
                )
            run = cls(path)
            run._configuration = _read_configuration(path / CONFIGURATION)
        return run

    @property
    def configuration(self) -> dict[str, object]:
        """A copy of what `write_configuration` was given, in this process or an earlier one.

        Raises:
            RunError: nothing was written yet.
        """
        if self._configuration is None:
            raise RunError(f"{self.path} has no {CONFIGURATION} yet: nothing was configured")
        return copy.deepcopy(self._configuration)

    @property
    def checkpoints(self) -> Path:
        """Folder of the saves."""
        return self.path / "checkpoints"

    @property
    def tokenizer_path(self) -> Path:
        """File of the tokenizer."""
        return self.path / "tokenizer.json"

    def write_configuration(self, configuration: Mapping[str, object]) -> None:
        """Writes `run.json`, whole or not at all.

        Raises:
            RunError: not plain finite JSON, the reserved name `format`, another process began
                a run here in between, or the disk refuses.
        """
        path = self.path / CONFIGURATION
        if "format" in configuration:
            raise RunError(f"cannot write {path}: the name format is taken by the file itself")
        content = strict_json.encode({"format": FORMAT, **configuration}, str(path))
        with in_one_line("write", path, len(content)):
            if self._is_new and self._configuration is None and path.exists():
                _refuse_taken(self.path)
            replace_file(path, content)
        self._configuration = strict_json.decode(content, str(path))
        del self._configuration["format"]

    def log(self, entry: Mapping[str, object]) -> None:
        """Appends one line to `log.jsonl`.

        Raises:
            RunError: NaN, infinity or no plain JSON in `entry`, or the disk refuses.
        """
        run_log.append(self.path / run_log.NAME, entry)

    def read_log(self) -> list[dict[str, object]]:
        """Returns the lines of `log.jsonl`, oldest first; a torn last line is left out.

        Raises:
            RunError: an earlier line is damaged, or the file cannot be read.
        """
        return run_log.read(self.path / run_log.NAME)

    def truncate_log(self, step: int) -> None:
        """Drops the lines of steps beyond `step`, which a resumed run makes again.

        Raises:
            RunError: the disk refuses; the log is as it was.
        """
        run_log.truncate(self.path / run_log.NAME, step)

    def add_sample(self, step: int, text: str) -> None:
        """Appends what the model wrote after `step` updates to `samples.txt`, under a header line.

        Raises:
            RunError: the disk refuses.
        """
        path = self.path / "samples.txt"
        content = f"=== step {step} ===\n{text}\n\n".encode("utf-8", "backslashreplace")
        with in_one_line("write", path, len(content)), path.open("ab") as file:
            file.write(content)

    def truncate_samples(self, step: int) -> None:
        """Drops the samples of steps beyond `step`, which a resumed run writes again.

        Raises:
            RunError: the disk refuses; the samples are as they were.
        """
        path = self.path / "samples.txt"
        with in_one_line("write", path):
            content = path.read_bytes() if path.exists() else b""
            for header in SAMPLE.finditer(content):
                if int(header[1]) > step:
                    replace_file(path, content[: header.start()])
                    return

    def discard(self) -> None:
        """Removes a run this object created in which nothing was saved, and parents it made.

        Call it after leaving the `RunLock`. Whatever else lies in the folder stays, and so does
        all of it while another process trains there. Failing to remove is no error.
        """
        if not self._is_new or (
            self._configuration is None and (self.path / CONFIGURATION).exists()
        ):
            return
        with suppress(OSError):  # RunError is one
            holder = lock.holder_of(self.path)
            if (holder and not lock.is_me(holder)) or saves.finished(self.checkpoints):
                return
            saves.remove_stale(self.checkpoints)
            for name in FILES:
                (self.path / name).unlink(missing_ok=True)
            for folder in (self.checkpoints, *self._made):
                if folder.exists():
                    folder.rmdir()


def _refuse_taken(path: Path) -> None:
    """Raises unless `path` is missing, empty, or left by a start that never configured a run."""
    if not path.exists():
        return
    if not path.is_dir():
        raise RunError(f"{path} is a file: expected a folder for the run; choose another --out")
    names = {entry.name for entry in path.iterdir()}
    if CONFIGURATION in names:
        holder = lock.holder_of(path)
        if holder and not lock.is_me(holder):
            raise RunError(f"{path} is in use by {holder}; choose another --out")
        raise RunError(
            f"{path} already holds a run; continue it with --resume, or choose another --out"
        )
    own = {*FILES, "checkpoints"} if lock.NAME in names else set()
    others = sorted(names - own)
    if not others and saves.finished(path / "checkpoints"):
        others = ["checkpoints"]
    if others:
        raise RunError(
            f"{path} holds other files ({others[0]!a}): expected a new or empty folder;"
            " choose another --out"
        )


def _make_folders(path: Path) -> tuple[Path, ...]:
    """Makes `path` and its missing parents; returns those this process made, innermost first."""
    missing = [folder for folder in (path, *path.parents) if not folder.exists()]
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


def _read_configuration(path: Path) -> dict[str, object]:
    content = strict_json.read(path, LARGEST_CONFIGURATION)
    version = content.pop("format", None)
    if type(version) is not int or version < 1:
        raise RunError(f"{path} is damaged: expected a format number, got {version!a:.40}")
    if version > FORMAT:
        raise RunError(
            f"{path} has format {version}, this clearformer reads up to {FORMAT}; upgrade it"
        )
    return content
