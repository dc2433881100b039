"""JSON in one exact form: read without the traps of the standard reader, written canonically."""

import json
import math
import re

DEEPEST = 64
"""Levels of lists and objects inside each other."""

MOST_DIGITS = 100
"""Digits of an integer: the state of a random generator needs 39."""

ESCAPED_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


def parse_json(raw: bytes) -> object:
    """The value in `raw` (UTF-8).

    The standard reader accepts NaN and Infinity, keeps the last of two equal keys, and lets
    RecursionError out of a deeply nested file.

    Raises:
        ValueError: one line that says what is wrong: not UTF-8, not JSON, a key twice, NaN or
            infinity, nested deeper than `DEEPEST`, an integer past `MOST_DIGITS`, a lone surrogate.
    """
    try:
        text = raw.decode("utf-8")
        value: object = json.loads(
            text,
            object_pairs_hook=_distinct,
            parse_constant=_refuse_constant,
            parse_float=_finite,
            parse_int=_short_integer,
        )
        _refuse_depth(value)
        if ESCAPED_SURROGATE.search(text):
            json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeDecodeError as fault:
        raise ValueError(f"byte {fault.start} is not UTF-8") from None
    except UnicodeEncodeError:
        raise ValueError("half of a surrogate pair") from None
    except json.JSONDecodeError as fault:
        raise ValueError(f"not JSON: {fault.msg} in line {fault.lineno}") from None
    except RecursionError:
        raise ValueError("nested too deeply") from None
    return value


def canonical_json(value: object) -> bytes:
    """`value` in the one spelling that is used for fingerprints: sorted keys, ASCII, no spaces."""
    return json.dumps(
        value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False
    ).encode("ascii")


def _refuse_constant(name: str) -> object:
    raise ValueError(f"{name} is not allowed in JSON")


def _distinct(pairs: list[tuple[str, object]]) -> dict[str, object]:
    members = dict(pairs)
    if len(members) != len(pairs):
        seen: set[str] = set()
        twice = next(name for name, _ in pairs if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        raise ValueError(f"the key {twice[:40]!a} occurs twice")
    return members


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
