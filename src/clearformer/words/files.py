"""Word vectors on disk: a folder with the numbers (safetensors) and the words (JSON).

words.json has the digest of the numbers, so that neither is taken for the other's by mistake. The
folder is written under another name and renamed: it is there whole or not at all.
"""

import hashlib
import shutil
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from clearformer.corpora.fields import fields_of
from clearformer.errors import ClearformerError, RunError
from clearformer.tensor import Float
from clearformer.training import strict_json, tensor_file
from clearformer.training.durable import in_one_line, rename, sync_folder, write_file
from clearformer.training.pickles import first_pickle, refusal
from clearformer.words.options import WordOptions
from clearformer.words.vectors import WordVectors
from clearformer.words.vocabulary import Vocabulary

WORDS, NUMBERS = "words.json", "vectors.safetensors"

FORMAT = 1
"""Raised when an older program could not read a newer folder."""

FIELDS = {"format", "words", "counts", "options", "loss", "sha256"}

MOST_TIMES = 2**62
"""No word occurs more often."""


def is_saved(path: Path) -> bool:
    """Whether a path is a folder that `save` has written."""
    return (path / WORDS).is_file()


def require_new(path: Path) -> None:
    """Refuses a name that is taken. Raises RunError."""
    if path.exists() or path.is_symlink():
        raise RunError(f"{path} is already there; choose another name, or remove it")


def save(vectors: WordVectors, path: Path) -> None:
    """Writes a new folder. Raises as `WordVectors.save`."""
    require_new(path)
    unfinished = path.with_name(path.name + ".tmp")
    size, pieces = tensor_file.encode({"vectors": vectors.vectors}, f"{path / NUMBERS}")
    with in_one_line("write", path, size):
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            unfinished.mkdir()
            written = write_file(unfinished / NUMBERS, pieces)
            content = strict_json.encode(_document(vectors, written.sha256), f"{path / WORDS}")
            write_file(unfinished / WORDS, [content])
            sync_folder(unfinished)
            rename(unfinished, path)
            sync_folder(path.parent)
        except FileExistsError:
            raise RunError(
                f"{unfinished} is in the way: another save is being written, or was interrupted; "
                "remove it"
            ) from None
        except BaseException:
            with suppress(OSError):
                shutil.rmtree(unfinished)
            raise


def load(path: Path) -> WordVectors:
    """Reads a folder. Raises as `WordVectors.load`."""
    if not is_saved(path):
        pickle = first_pickle(path) if path.is_dir() else None
        raise RunError(
            refusal(pickle)
            if pickle
            else f"{path} holds no word vectors: expected a folder with {WORDS} in it"
        )
    with in_one_line("read", path):
        document = strict_json.read(path / WORDS)
        try:
            return _vectors_of(document, path)
        except (ValueError, TypeError, ClearformerError) as fault:
            if isinstance(fault, RunError):
                raise
            raise RunError(f"{path / WORDS} is damaged: {fault}") from None


def _document(vectors: WordVectors, digest: str) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "words": list(vectors.words),
        "counts": vectors.vocabulary.counts.tolist(),
        "options": vectors.options.to_json(),
        "loss": vectors.loss,
        "sha256": digest,
    }


def _vectors_of(document: dict[str, Any], path: Path) -> WordVectors:
    if type(document.get("format")) is int and document["format"] > FORMAT:
        raise RunError(f"{path} was written by a newer Clearformer; update this one")
    found = fields_of(document, FIELDS, "it")
    words, counts = found["words"], found["counts"]
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise ValueError("words is no list of words")
    if len(words) < 2 or len(set(words)) != len(words):
        raise ValueError("expected at least two words, none of them twice")
    if not isinstance(counts, list) or len(counts) != len(words):
        raise ValueError("expected a count for each word")
    if not all(type(count) is int and 0 < count <= MOST_TIMES for count in counts):
        raise ValueError("a count is no whole number above 0")
    options = found["options"]
    if not isinstance(options, dict) or type(found["loss"]) not in (int, float):
        raise ValueError("options or loss are not as expected")
    dials = WordOptions.from_json(options)
    numbers = _numbers(path / NUMBERS, (len(words), dials.embed), found["sha256"])
    return WordVectors(
        Vocabulary(tuple(words), np.array(counts, np.int64)), numbers, dials, float(found["loss"])
    )


def _numbers(
    path: Path, shape: tuple[int, int], digest: object
) -> Float[np.ndarray, "vocab embed"]:
    """The vectors, once the file is known to be the one that was written."""
    with path.open("rb") as file:
        if hashlib.file_digest(file, "sha256").hexdigest() != digest:
            raise RunError(f"{path} is damaged: it is not what was written (SHA-256 differs)")
    arrays = tensor_file.read(path)
    numbers = arrays.get("vectors")
    if numbers is None or numbers.shape != shape or numbers.dtype.kind != "f":
        raise RunError(f"{path} is damaged: expected vectors of shape {shape}")
    if not np.isfinite(numbers).all():
        raise RunError(f"{path} is damaged: a number is NaN or infinite")
    return numbers
