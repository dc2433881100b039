"""JSON files of a comparison that tell whether they hold what was written.

    {"found": …, "weights": SHA-256 of the file beside it or null, "of": SHA-256 of the plan,
     "sha256": of the three}

A file that was changed, cut, or taken from another comparison is refused, whatever it holds.
"""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from clearformer.errors import RunError
from clearformer.training import strict_json
from clearformer.training.durable import replace_file


def write(file: Path, found: Mapping[str, Any], weights: str | None, of: str) -> None:
    """Puts the file in place, whole or not at all.

    Raises:
        RunError: for what JSON cannot hold.
        OSError: it cannot be written.
    """
    document = {"found": dict(found), "weights": weights, "of": of}
    sealed = {**document, "sha256": digest(document)}
    replace_file(file, strict_json.encode(sealed, str(file)))


def read(file: Path, of: str) -> tuple[dict[str, Any], str | None]:
    """What was found, and the digest of the weights, as they were written for the same plan.

    Raises:
        RunError: it is not what was written, or belongs to another comparison.
        OSError: it cannot be read.
    """
    document: dict[str, Any] = strict_json.read(file)
    expected = document.pop("sha256", None)
    if expected != digest(document) or set(document) != {"found", "weights", "of"}:
        raise damaged(file, file)
    if document["of"] != of:
        raise RunError(f"{file} belongs to another comparison; {again(file)}")
    return document["found"], document["weights"]


def digest(document: Mapping[str, Any]) -> str:
    """SHA-256 of plain data, hexadecimal; the same once it was written and read."""
    return hashlib.sha256(strict_json.encode(document, "a digest", indent=None)).hexdigest()


def damaged(file: Path, part: Path) -> RunError:
    """The error for a file that is not what was written; without `part` it is made anew."""
    return RunError(f"{file} is damaged: it is not what was written; {again(part)}")


def again(part: Path) -> str:
    """What a person does about it."""
    return f"remove {part.name}, and that part is done again"
