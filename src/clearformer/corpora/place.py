"""The place of a prepared text: its files, and whether a folder has room for them."""

import re
from collections.abc import Mapping
from pathlib import Path

from clearformer.corpora.plan import SHARD_NAME
from clearformer.errors import RunError
from clearformer.training import strict_json
from clearformer.training.durable import in_one_line, replace_file
from clearformer.training.lock import NAME as LOCK

DATA = "data.json"
PLAN = "preparing.json"
FINISHED = "finished.jsonl"
TOKENIZER = "tokenizer.json"

FILES = (DATA, PLAN, FINISHED, TOKENIZER, LOCK)
"""Every file beside the shards."""

UNFINISHED = re.compile(
    f"({SHARD_NAME.pattern}" r"\.[0-9a-f]{8}|" f"{DATA}|{PLAN}|{TOKENIZER}|{FINISHED}" r")\.tmp"
)
"""What an interrupted process can leave."""


def write_json(path: Path, content: Mapping[str, object]) -> None:
    """Writes a file of JSON, whole or not at all. Raises RunError."""
    raw = strict_json.encode(content, str(path))
    with in_one_line("write", path, len(raw)):
        replace_file(path, raw)


def require_room_for_data(folder: Path) -> None:
    """Refuses a folder that holds anything else than a prepared text or part of one.

    Raises:
        RunError: naming what is in the way.
    """
    with in_one_line("look into", folder):
        if not folder.exists():
            return
        if not folder.is_dir():
            raise RunError(
                f"{folder} is a file: expected a folder for the data; choose another --out"
            )
        others = _others(folder)
        if others:
            raise RunError(
                f"{folder} holds other files ({others[0]!a}): expected a new or empty folder; "
                "choose another --out"
            )


def is_begun(folder: Path) -> bool:
    """Whether a text is, or was, being read there, and nothing is planned yet."""
    return (folder / LOCK).exists() and not _others(folder)


def _others(folder: Path) -> list[str]:
    """Names of what belongs to no prepared text."""
    return sorted(
        entry.name
        for entry in folder.iterdir()
        if entry.name not in FILES
        and not SHARD_NAME.fullmatch(entry.name)
        and not UNFINISHED.fullmatch(entry.name)
    )


def remove_leftovers(folder: Path) -> None:
    """Removes what an interrupted process has left; call it while holding the lock.

    Raises:
        RunError: something cannot be removed.
    """
    with in_one_line("remove unfinished files from", folder):
        for entry in folder.iterdir():
            if UNFINISHED.fullmatch(entry.name):
                entry.unlink()
