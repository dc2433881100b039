"""Fields of a file of plain data: what is not as expected is a ValueError that names it."""

import re
from collections.abc import Mapping
from typing import Any

DIGEST = re.compile(r"[0-9a-f]{64}")

LARGEST = 2**62
"""No size, place or number in a file is larger."""


def fields_of(found: object, names: set[str], what: str) -> dict[str, Any]:
    """An object with exactly these names."""
    entry = entry_of(found)
    if set(entry) != names:
        odd = sorted(set(entry) ^ names)
        raise ValueError(f"{what} has not exactly the fields expected ({str(odd[0])[:40]!a})")
    return entry


def entry_of(found: object) -> dict[str, Any]:
    """An object."""
    if not isinstance(found, dict):
        raise ValueError(f"expected an object, got {type(found).__name__}")
    return found


def list_in(entry: Mapping[str, Any], name: str) -> list[Any]:
    """A list."""
    value = entry[name]
    if not isinstance(value, list):
        raise ValueError(f"{name} is no list")
    return value


def text_in(entry: Mapping[str, Any], name: str) -> str:
    """A string."""
    value = entry.get(name)
    if not isinstance(value, str):
        raise ValueError(f"{name} is no text")
    return value


def count_in(entry: Mapping[str, Any], name: str) -> int:
    """A whole number from 0 to `LARGEST`."""
    value = entry.get(name)
    if type(value) is not int or not 0 <= value <= LARGEST:
        raise ValueError(f"{name} is {str(value)[:40]!a}")
    return value


def digest_in(entry: Mapping[str, Any], name: str) -> str:
    """A SHA-256 in 64 hexadecimal digits."""
    value = text_in(entry, name)
    if not DIGEST.fullmatch(value):
        raise ValueError(f"{name} is no SHA-256")
    return value
