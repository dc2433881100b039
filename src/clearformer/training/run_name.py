"""A name for a new run folder that every file system takes."""

import unicodedata
from pathlib import Path

from clearformer.training.portable_name import RESERVED, namesake

LONGEST = 64
"""Characters of a name."""

LONGEST_IN_BYTES = 240
"""UTF-8 bytes of a name; file systems take 255, and `.tmp` and the like are added."""


def default_run_path(stem: str, parent: Path = Path("runs")) -> Path:
    """Returns a path in `parent` named after `stem` at which nothing lies yet.

    Letters and digits of every script, `-` and `_` stay; all else becomes one `-`. A taken name
    gets `-2`, `-3` and so on.
    """
    name = _safe(stem)
    path = parent / _shortened(name, "")
    number = 2
    while namesake(path):
        path = parent / _shortened(name, f"-{number}")
        number += 1
    return path


def _safe(stem: str) -> str:
    name = ""
    for letter in unicodedata.normalize("NFKC", stem):
        kind = unicodedata.category(letter)[0]
        if letter == "_" or kind in "LN" or (kind == "M" and name and name[-1] != "-"):
            name += letter
        elif name and name[-1] != "-":
            name += "-"
    name = name.rstrip("-")
    if not name:
        return "run"
    return f"{name}-run" if RESERVED.fullmatch(name) else name


def _shortened(name: str, ending: str) -> str:
    name = name[: LONGEST - len(ending)]
    while len((name + ending).encode("utf-8")) > LONGEST_IN_BYTES:
        name = name[:-1]
    return name.rstrip("-") + ending
