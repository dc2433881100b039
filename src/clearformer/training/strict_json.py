"""JSON without surprises: what is written can be read back, and what is read is plain data.

What is wrong with a file, or cannot be written to one, is one `RunError`, in both directions.
"""

import json
import os
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from clearformer.errors import RunError
from clearformer.text.exact_json import parse_json
from clearformer.text.ordinary_file import open_ordinary

LARGEST = 100_000_000
"""Bytes: more is refused unread."""


def encode(value: Mapping[str, object], source: str, indent: int | None = 2) -> bytes:
    """Returns `value` as UTF-8 JSON; NumPy numbers become plain ones, tuples become lists.

    Args:
        value: names and what they hold.
        source: what is being written, for the message of an error.
        indent: None for everything on one line.

    Raises:
        RunError: for what JSON cannot hold and give back: NaN, infinity, arrays, lone surrogates.
    """
    try:
        text = json.dumps(
            value, allow_nan=False, ensure_ascii=False, indent=indent, default=_plain_number
        )
        raw = text.encode("utf-8")
    except (TypeError, ValueError, RecursionError) as error:
        raise RunError(f"cannot write {source}: expected finite plain data, got {error}") from error
    decode(raw, source)
    return raw


def decode(raw: bytes, source: str) -> dict[str, object]:
    """Returns the object that UTF-8 JSON `raw` holds; `source` names it in errors.

    Raises:
        RunError: not an object, or refused by `parse_json`.
    """
    try:
        value = parse_json(raw)
    except ValueError as fault:
        raise RunError(f"{source} is damaged: expected strict JSON, got {fault}") from fault
    if not isinstance(value, dict):
        raise RunError(f"{source} is damaged: expected a JSON object, got {type(value).__name__}")
    return value


def read(path: Path, largest: int = LARGEST) -> dict[str, object]:
    """Returns the object in a JSON file of at most `largest` bytes.

    Raises:
        RunError: as `decode`, or too large.
        OSError: the file cannot be read.
    """
    with open_ordinary(path) as file:
        size = os.fstat(file.fileno()).st_size
        if size > largest:
            raise RunError(f"{path} is damaged: expected at most {largest:,} bytes, got {size:,}")
        return decode(file.read(largest), str(path))


def _plain_number(value: object) -> object:
    if isinstance(value, np.bool_ | np.integer | np.floating):
        return value.item()
    raise TypeError(f"a {type(value).__name__}")
