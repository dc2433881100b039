"""The folder of a comparison: its plan, and every trial that has ended, so that it can go on.

FOLDER/plan.json         what is compared (see `plan`), where the text is, what was wished to see
       trials/NAME.json  one for each trial that has ended, whole or not at all (`sealed`)
       trials/NAME.safetensors  the weights of the first seed, to look into
       comparison.json   the document, once all have ended
       report.html       the same as a page for a person
       lock              see `training.lock`
"""

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from clearformer.comparison import sealed
from clearformer.comparison.plan import Plan
from clearformer.errors import RunError
from clearformer.training import strict_json, tensor_file
from clearformer.training.durable import (
    in_one_line,
    read_file,
    rename,
    replace_file,
    sync_folder,
    write_file,
)
from clearformer.training.lock import NAME as LOCK
from clearformer.training.lock import RunLock

PLAN, TRIALS, DOCUMENT, REPORT = "plan.json", "trials", "comparison.json", "report.html"

FORMAT = 1
"""Version of plan.json; raised when an older program could not read a newer one."""


@dataclass(frozen=True)
class Wishes:
    """What changes nothing that is trained: it may be another each time."""

    why: bool = True
    """Whether the reasons are measured, too."""
    language: str = "en"
    """Of the report."""

    @classmethod
    def from_json(cls, document: object, source: str) -> "Wishes":
        """The wishes in a document; what a folder made before does not tell is as usual.

        Raises:
            RunError: it is damaged; `source` names it.
        """
        given = {} if document is None else document
        try:
            made = cls(**given)  # type: ignore[arg-type]
        except TypeError:
            raise RunError(f"{source} is damaged: expected wishes, got {given!r:.40}") from None
        if type(made.why) is not bool or not isinstance(made.language, str):
            raise RunError(f"{source} is damaged: expected wishes, got {given!r:.40}")
        return made


@dataclass(frozen=True)
class Begun:
    """What a folder says of the comparison that was begun in it."""

    plan: Plan
    source: Mapping[str, Any]
    """Where its text is."""
    wishes: Wishes


class Study:
    """What has ended so far; this one is in memory only.

    Attributes:
        path: of the folder; None where nothing is written.
    """

    path: Path | None = None

    def __init__(self) -> None:
        self._ended: dict[str, dict[str, Any]] = {}
        self._weights: dict[str, dict[str, np.ndarray]] = {}

    def get(self, name: str) -> dict[str, Any] | None:
        """What a trial has found, if it has ended."""
        return self._ended.get(name)

    def put(self, name: str, found: Mapping[str, Any]) -> None:
        """Keeps what a trial has found; plain JSON."""
        self._ended[name] = dict(found)

    def weights(self, name: str) -> dict[str, np.ndarray] | None:
        """The weights that were kept of a trial, if any."""
        return self._weights.get(name)

    def keep_weights(self, name: str, arrays: Mapping[str, np.ndarray]) -> None:
        """Keeps the weights of a trial; before `put`, so that who finds that has both."""
        self._weights[name] = {key: np.array(array) for key, array in arrays.items()}

    def finish(self, document: Mapping[str, Any]) -> None:
        """Keeps the document."""

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Inside, no other process is at the same comparison."""
        yield


class Folder(Study):
    """The same on disk.

    Args:
        path: of the folder; it has this plan.
        plan: what is compared there.
    """

    def __init__(self, path: Path, plan: Plan) -> None:
        super().__init__()
        self.path: Path = path
        self.of: str = sealed.digest(plan.to_json())
        """Ties what is kept to the plan."""
        self._digests: dict[str, str] = {}

    def get(self, name: str) -> dict[str, Any] | None:
        """Read from its file.

        Raises:
            RunError: the file is damaged, or of another comparison.
        """
        file = self._file(name)
        with in_one_line("read", file):
            return sealed.read(file, self.of)[0] if file.exists() else None

    def put(self, name: str, found: Mapping[str, Any]) -> None:
        """Written so that it is still there after a crash.

        Raises:
            RunError: it cannot be written.
        """
        file = self._file(name)
        with in_one_line("write", file):
            sealed.write(file, found, self._digests.pop(name, None), self.of)

    def weights(self, name: str) -> dict[str, np.ndarray] | None:
        """Read from their file, once it is known to be the one that was written.

        Raises:
            RunError: the file is damaged or gone.
        """
        file, trial = self._file(name, ".safetensors"), self._file(name)
        with in_one_line("read", file):
            expected = sealed.read(trial, self.of)[1] if trial.exists() else None
            if expected is None:
                return None
            if not file.exists():
                raise RunError(f"{file} is gone; {sealed.again(trial)}")
            if hashlib.sha256(read_file(file)).hexdigest() != expected:
                raise sealed.damaged(file, trial)
            return tensor_file.read(file)

    def keep_weights(self, name: str, arrays: Mapping[str, np.ndarray]) -> None:
        """Written so that they are still there after a crash.

        Raises:
            RunError: they cannot be written.
        """
        file = self._file(name, ".safetensors")
        size, pieces = tensor_file.encode(arrays, str(file))
        with in_one_line("write", file, size):
            unfinished = file.with_name(file.name + ".tmp")
            unfinished.unlink(missing_ok=True)
            self._digests[name] = write_file(unfinished, pieces).sha256
            rename(unfinished, file)
            sync_folder(file.parent)

    def finish(self, document: Mapping[str, Any]) -> None:
        """Writes comparison.json.

        Raises:
            RunError: it cannot be written.
        """
        file = self.path / DOCUMENT
        with in_one_line("write", file):
            replace_file(file, strict_json.encode(document, str(file)))

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Refused while another process is inside.

        Raises:
            RunError: naming the other one.
        """
        with RunLock(self.path, "compare"):
            yield

    def _file(self, name: str, ending: str = ".json") -> Path:
        return self.path / TRIALS / f"{name}{ending}"


def begin(path: Path, begun: Begun) -> Folder:
    """The folder of a new comparison, or of the same one that was begun there before.

    Args:
        path: of the folder.
        begun: what is compared, where the text can be found again, and what is wished this time.

    Raises:
        RunError: it holds other files, or another comparison, or cannot be written to.
    """
    document = {
        "format": FORMAT,
        "plan": begun.plan.to_json(),
        "source": dict(begun.source),
        "wishes": asdict(begun.wishes),
    }
    if (path / PLAN).exists():
        before = begun_in(path)
        begun.plan.require_same(before.plan, path)
        if before.wishes != begun.wishes:
            with in_one_line("write", path / PLAN):
                replace_file(path / PLAN, strict_json.encode(document, str(path / PLAN)))
        return Folder(path, begun.plan)
    with in_one_line("create the comparison", path):
        there = [entry.name for entry in path.iterdir()] if path.exists() else []
        others = sorted(set(there) - {LOCK, TRIALS, f"{PLAN}.tmp"})
        if others:
            raise RunError(
                f"{path} holds other files ({others[0]!a}): expected a new or empty folder; "
                "choose another --out"
            )
        (path / TRIALS).mkdir(parents=True, exist_ok=True)
        replace_file(path / PLAN, strict_json.encode(document, str(path / PLAN)))
        sync_folder(path.parent)
    return Folder(path, begun.plan)


def begun_in(path: Path) -> Begun:
    """The comparison in a folder.

    Raises:
        RunError: there is none, it is damaged, or of a newer version.
    """
    file = path / PLAN
    if not file.exists():
        raise RunError(f"{path} holds no comparison to go on with: expected {PLAN} there")
    with in_one_line("read", file):
        document = strict_json.read(file)
    plan, source = document.get("plan"), document.get("source")
    if document.get("format") != FORMAT or not isinstance(plan, dict):
        raise RunError(
            f"{file} is damaged or of a newer version: expected format {FORMAT}, "
            f"got {document.get('format')!r:.40}"
        )
    return Begun(
        Plan.from_json(plan, str(file)),
        source if isinstance(source, dict) else {},
        Wishes.from_json(document.get("wishes"), str(file)),
    )
