"""JSON in one exact form: read without the traps of the standard reader, written canonically."""

import json
from typing import NoReturn


def parse_json(raw: bytes) -> object:
    """The value in `raw` (UTF-8).

    The standard reader accepts NaN and Infinity, keeps the last of two equal keys, and lets
    RecursionError out of a deeply nested file.

    Raises:
        ValueError: one line that says what is wrong with the file.
    """
    try:
        return json.loads(
            raw.decode("utf-8"), parse_constant=_refuse_constant, object_pairs_hook=_distinct
        )
    except UnicodeDecodeError as fault:
        raise ValueError(f"byte {fault.start} is not UTF-8") from None
    except json.JSONDecodeError as fault:
        raise ValueError(f"not JSON: {fault.msg} in line {fault.lineno}") from None
    except RecursionError:
        raise ValueError("nested too deeply") from None


def canonical_json(value: object) -> bytes:
    """`value` in the one spelling that is used for fingerprints: sorted keys, ASCII, no spaces."""
    return json.dumps(
        value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False
    ).encode("ascii")


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not allowed in JSON")


def _distinct(pairs: list[tuple[str, object]]) -> dict[str, object]:
    members = dict(pairs)
    if len(members) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key {twice[:40]!a} occurs twice")
    return members
