"""The manifest of a save: what the other files must hold, written last to vouch for them."""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from clearformer.errors import RunError
from clearformer.text.ordinary_file import open_ordinary
from clearformer.training import strict_json
from clearformer.training.durable import Written, write_file
from clearformer.training.pickles import first_pickle, refusal

NAME = "manifest.json"

FORMAT = 1
"""Version of how a save is laid out; raised when an older program could not read a newer one."""

FILES = ("model.safetensors", "optimizer.safetensors", "state.json")
"""Every file of a save beside the manifest; no other name is ever taken from a file."""

LARGEST = 100_000
"""Bytes of a manifest; a real one has under a thousand."""


@dataclass(frozen=True)
class Manifest:
    """What a save says about itself."""

    step: int
    """Updates made before the save."""

    files: Mapping[str, Written]
    """Size and digest of each of `FILES`."""


def write(folder: Path, manifest: Manifest) -> None:
    """Writes and syncs the manifest of the save in `folder`.

    Raises:
        OSError: the system refuses.
    """
    content = {
        "format": FORMAT,
        "step": manifest.step,
        "files": {name: asdict(written) for name, written in manifest.files.items()},
    }
    write_file(folder / NAME, [strict_json.encode(content, f"{folder / NAME}")])


def read(folder: Path) -> Manifest:
    """Returns the manifest of the save in `folder`.

    Raises:
        RunError: missing, damaged, or of a newer format.
        OSError: it cannot be read.
    """
    path = folder / NAME
    if not path.is_file():
        raise RunError(f"{path} is missing: the save was never finished")
    content = strict_json.read(path, LARGEST)
    version, step, files = (content.get(key) for key in ("format", "step", "files"))
    if type(version) is int and version > FORMAT:
        raise RunError(
            f"{path} has format {version}, this clearformer reads up to {FORMAT}; upgrade it"
        )
    _refuse_other_names(files, path)
    if (
        set(content) != {"format", "step", "files"}
        or type(version) is not int
        or version < 1
        or type(step) is not int
        or step < 0
        or not isinstance(files, dict)
        or set(files) != set(FILES)
    ):
        raise RunError(f"{path} is damaged: expected format {FORMAT}, a step, {len(FILES)} files")
    return Manifest(step, {name: _written(files[name], path) for name in FILES})


def verify(folder: Path, manifest: Manifest, names: Iterable[str] = FILES) -> None:
    """Reads each file of `names` and compares size and digest with the manifest.

    Raises:
        RunError: naming the first file that differs, and how.
        OSError: a file cannot be read.
    """
    for name in names:
        path, expected = folder / name, manifest.files[name]
        if not path.is_file():
            pickle = first_pickle(folder, [path.stem])
            instead = f"; in its place lies a pickle: {refusal(pickle)}" if pickle else ""
            raise RunError(f"{path} is missing{instead}")
        size = path.stat().st_size
        if size != expected.bytes:
            raise RunError(f"{path} is damaged: expected {expected.bytes:,} bytes, got {size:,}")
        with open_ordinary(path) as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        if digest != expected.sha256:
            raise RunError(
                f"{path} is damaged: expected SHA-256 {expected.sha256[:12]}…, got {digest[:12]}…"
            )


def _refuse_other_names(files: object, path: Path) -> None:
    """A name in a manifest is never made a path of; one that is not known is told."""
    others = sorted(set(files) - set(FILES)) if isinstance(files, dict) else []
    if others:
        raise RunError(
            f"{path} is damaged: it names {others[0]!a:.80}; the files of a save are"
            f" {', '.join(FILES)} and no others"
        )


def _written(entry: object, path: Path) -> Written:
    if isinstance(entry, dict) and set(entry) == {"bytes", "sha256"}:
        size, digest = entry["bytes"], entry["sha256"]
        if type(size) is int and size >= 0 and isinstance(digest, str):
            return Written(size, digest)
    raise RunError(f"{path} is damaged: expected bytes and sha256 of each file")
