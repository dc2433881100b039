"""JSON without surprises: what is written can be read back, and what is read is plain data.

Python's own reader takes NaN, keeps the last of two equal keys, and fails with RecursionError
or ValueError on hostile text. Here each of those is one `RunError`, in both directions.
"""

import json
import math
import os
import re
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from clearformer.errors import RunError

LARGEST = 100_000_000
"""Bytes: more is refused unread."""

DEEPEST = 64
"""Levels of lists and objects inside each other."""

MOST_DIGITS = 100
"""Digits of an integer: the state of a random generator needs 39."""

ESCAPED_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


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
        RunError: not UTF-8, not JSON, not an object, a key twice, NaN or infinity,
            nested deeper than `DEEPEST`, an integer past `MOST_DIGITS`, a lone surrogate.
    """
    try:
        text = raw.decode("utf-8")
        value = json.loads(
            text,
            object_pairs_hook=_without_repeats,
            parse_constant=_refuse_constant,
            parse_float=_finite,
            parse_int=_short_integer,
        )
        _refuse_depth(value)
        if ESCAPED_SURROGATE.search(text):
            json.dumps(value, ensure_ascii=False).encode("utf-8")
    except (ValueError, RecursionError) as error:
        reason = "nested too deeply" if isinstance(error, RecursionError) else error
        raise RunError(f"{source} is damaged: expected strict JSON, got {reason}") from error
    if not isinstance(value, dict):
        raise RunError(f"{source} is damaged: expected a JSON object, got {type(value).__name__}")
    return value


def read(path: Path, largest: int = LARGEST) -> dict[str, object]:
    """Returns the object in a JSON file of at most `largest` bytes.

    Raises:
        RunError: as `decode`, or too large.
        OSError: the file cannot be read.
    """
    with path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        if size > largest:
            raise RunError(f"{path} is damaged: expected at most {largest:,} bytes, got {size:,}")
        return decode(file.read(largest), str(path))


def _plain_number(value: object) -> object:
    if isinstance(value, np.bool_ | np.integer | np.floating):
        return value.item()
    raise TypeError(f"a {type(value).__name__}")


def _without_repeats(pairs: list[tuple[str, object]]) -> dict[str, object]:
    value = dict(pairs)
    if len(value) < len(pairs):
        names = [name for name, _ in pairs]
        repeated = next(name for name in value if names.count(name) > 1)
        raise ValueError(f"the key {repeated[:80]!a} twice")
    return value


def _refuse_constant(text: str) -> object:
    raise ValueError(text)


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text[:40]}, which is beyond float64")
    return number


def _short_integer(text: str) -> int:
    if len(text) > MOST_DIGITS:
        raise ValueError(f"an integer of {len(text):,} digits (at most {MOST_DIGITS})")
    return int(text)


def _refuse_depth(value: object) -> None:
    level = [value]
    for _ in range(DEEPEST + 1):
        inside: list[object] = []
        for item in level:
            if isinstance(item, dict):
                inside.extend(item.values())
            elif isinstance(item, list):
                inside.extend(item)
        if not inside:
            return
        level = inside
    raise ValueError(f"more than {DEEPEST} levels")
