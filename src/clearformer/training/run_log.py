"""The log of a run: one JSON object per line, appended while the model learns.

It is not synced, so a crash can cost its last lines; a resumed run writes those again.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import BinaryIO

from clearformer.errors import RunError
from clearformer.training import strict_json
from clearformer.training.durable import in_one_line, open_to_append, read_file, replace_file

NAME = "log.jsonl"


def append(path: Path, entry: Mapping[str, object]) -> None:
    """Appends one line; a torn line before it, of a process that was killed, is cut off.

    Raises:
        RunError: NaN, infinity or no plain JSON in `entry`, or the disk refuses.
    """
    line = strict_json.encode(entry, f"a line of {path}", indent=None) + b"\n"
    with in_one_line("write", path, len(line)), open_to_append(path, "a+b") as file:
        _cut_torn_line(file)
        file.write(line)


def read(path: Path) -> list[dict[str, object]]:
    """Returns the entries, oldest first; none for a missing file.

    Raises:
        RunError: a line is damaged that is not the last, or the file cannot be read.
    """
    return [entry for _, entry in _lines(path, skip_damaged=False)]


def truncate(path: Path, step: int) -> None:
    """Drops the lines of steps beyond `step`, whole or not at all.

    Damaged lines go too: the log must never keep a run from being resumed.

    Raises:
        RunError: the disk refuses; the log is as it was.
    """
    lines = _lines(path, skip_damaged=True)
    content = b"".join(line for line, entry in lines if not _is_beyond(entry, step))
    with in_one_line("write", path, len(content)):
        if path.exists() and path.stat().st_size != len(content):
            replace_file(path, content)


def _lines(path: Path, *, skip_damaged: bool) -> list[tuple[bytes, dict[str, object]]]:
    with in_one_line("read", path):
        lines = read_file(path).splitlines(keepends=True) if path.exists() else []
    entries = []
    for number, line in enumerate(lines, start=1):
        try:
            if not line.endswith(b"\n"):
                raise RunError(f"line {number} of {path} is torn")
            entries.append((line, strict_json.decode(line, f"line {number} of {path}")))
        except RunError:
            if number < len(lines) and not skip_damaged:
                raise
    return entries


def _is_beyond(entry: Mapping[str, object], step: int) -> bool:
    value = entry.get("step")
    return isinstance(value, int | float) and value > step


def _cut_torn_line(file: BinaryIO) -> None:
    size = file.seek(0, os.SEEK_END)
    if size == 0:
        return
    file.seek(size - 1)
    if file.read(1) != b"\n":
        file.seek(0)
        file.truncate(file.read().rfind(b"\n") + 1)
