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
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from clearformer.errors import RunError
from clearformer.training import lock, run_log, saves, strict_json
from clearformer.training.durable import (
    in_one_line,
    open_to_append,
    read_file,
    replace_file,
)
from clearformer.training.pickles import first_pickle, is_pickle, refusal
from clearformer.training.run_name import default_run_path
from clearformer.training.run_place import (
    CONFIGURATION,
    FILES,
    SAMPLES,
    TOKENIZER,
    UNFINISHED,
    refuse_taken,
    take_place,
)

__all__ = ["RunFolder", "default_run_path"]

FORMAT = 1
"""Version of `run.json`; raised when an older program could not read a newer one."""

LARGEST_CONFIGURATION = 10_000_000
"""Bytes of a `run.json`."""

SAMPLE = re.compile(rb"^=== step ([0-9]{1,18}) ===$", re.MULTILINE)
"""The header line of a sample."""


class RunFolder:
    """A run on disk; made by `create` or `open`."""

    def __init__(self, path: Path, made: tuple[Path, ...] = ()) -> None:
        self.path = path
        self._made = made
        self._configuration: dict[str, object] | None = None
        self._is_new = False
        self._lock: lock.RunLock | None = None

    @classmethod
    def create(cls, path: Path) -> "RunFolder":
        """Makes the folder of a new run, and its parents; enter `locked` next.

        A folder left by a start that was killed before it had a configuration is used again.

        Raises:
            RunError: it holds a run already or other files, is a file, or cannot be written to.
        """
        with in_one_line("create the run", path):
            run = cls(path, take_place(path))
            run._is_new = True
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
                _refuse_pickle(path)
                raise RunError(
                    f"{path} is not a run: expected a folder with {CONFIGURATION};"
                    " name the folder that clearformer train printed"
                )
            run = cls(path)
            run._configuration = _read_configuration(path / CONFIGURATION)
        return run

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Inside, nobody else trains in this folder.

        Raises:
            RunError: somebody else does; it names them.
        """
        with lock.RunLock(self.path) as held:
            self._lock = held
            try:
                yield
            finally:
                self._lock = None

    def require_own(self) -> None:
        """Makes sure, inside `locked`, that the folder is still the one that was locked.

        Raises:
            RunError: it was removed, moved or replaced, perhaps by another run.
        """
        if self._lock is not None:
            self._lock.require_held()

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
        return self.path / TOKENIZER

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
                refuse_taken(self.path)
            replace_file(path, content)
        self._configuration = strict_json.decode(content, str(path))
        del self._configuration["format"]

    def write_tokenizer(self, content: bytes) -> None:
        """Writes `tokenizer.json`, whole or not at all.

        Raises:
            RunError: the disk refuses.
        """
        with in_one_line("write", self.tokenizer_path, len(content)):
            replace_file(self.tokenizer_path, content)

    def log(self, entry: Mapping[str, object]) -> None:
        """Appends one line to `log.jsonl`.

        Raises:
            RunError: NaN, infinity or no plain JSON in `entry`, or the disk refuses.
        """
        self.require_own()
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
        self.require_own()
        path = self.path / SAMPLES
        content = f"=== step {step} ===\n{text}\n\n".encode("utf-8", "backslashreplace")
        with in_one_line("write", path, len(content)), open_to_append(path, "ab") as file:
            file.write(content)

    def truncate_samples(self, step: int) -> None:
        """Drops the samples of steps beyond `step`, which a resumed run writes again.

        Raises:
            RunError: the disk refuses; the samples are as they were.
        """
        path = self.path / SAMPLES
        with in_one_line("write", path):
            content = read_file(path) if path.exists() else b""
            for header in SAMPLE.finditer(content):
                if int(header[1]) > step:
                    replace_file(path, content[: header.start()])
                    return

    def remove_stale(self) -> tuple[str, ...]:
        """Removes what a killed process left half-written, and returns the names of it.

        Call it while holding the run's lock.

        Raises:
            RunError: something cannot be removed.
        """
        removed = []
        with in_one_line("remove half-written files from", self.path):
            for name in UNFINISHED:
                if os.path.lexists(self.path / name):
                    (self.path / name).unlink()
                    removed.append(name)
        return (*removed, *saves.remove_stale(self.checkpoints))

    def discard(self) -> None:
        """Removes a run this object created in which nothing was saved, and parents it made.

        Call it after leaving `locked`. Whatever else lies in the folder stays, and so does
        all of it while anybody trains there. Failing to remove is no error.
        """
        if not self._is_new:
            return
        with suppress(OSError):  # RunError is one
            with lock.RunLock(self.path):  # so that nobody begins here meanwhile
                if saves.finished(self.checkpoints) or not self._is_ours():
                    return
                saves.remove_stale(self.checkpoints)
                for name in FILES:
                    if name != lock.NAME or sys.platform != "win32":
                        (self.path / name).unlink(missing_ok=True)
            if sys.platform == "win32":  # which removes no open file, so nobody holds it now
                (self.path / lock.NAME).unlink()
            for folder in (self.checkpoints, *self._made):
                if folder.exists():
                    folder.rmdir()

    def _is_ours(self) -> bool:
        """Whether there is no configuration but the one that was written here."""
        path = self.path / CONFIGURATION
        return not path.exists() or _read_configuration(path) == self._configuration


def _refuse_pickle(path: Path) -> None:
    """Says so where a person has named a pickle, or a folder with one, in place of a run."""
    pickle = path if is_pickle(path) else first_pickle(path)
    if pickle:
        raise RunError(refusal(pickle))


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
