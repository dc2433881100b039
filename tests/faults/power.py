"""What a disk may hold after a power cut: rebuilt from the calls that were made before it.

The rules are the least that POSIX promises. What was written to a file is there once the file is
synced, the names in a folder once the folder is; each rename happens whole or not at all. Of all
that came later, anything may be there and anything may be missing, in any order, but that two
changes of one name come in theirs. Of a write, any sectors may be missing; they hold zeros or
rubbish.
"""

import os
import random
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from faults.disk import Disk

SECTORS = (512, 4096)
"""Bytes that a disk writes whole."""

MANNERS = ("nothing", "in order", "in any order", "all")
"""How much of what was not synced is on the disk."""


class Recorder(Disk):
    """Hears what happens below a folder, with the bytes, and what the program reported when."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.events: list[tuple[str, str, dict[str, Any]]] = []

    def pass_through(self, name: str, path: str, call: Any, half: Any = None, **told: Any) -> Any:
        told["is_new"] = name == "open" and not os.path.lexists(f"{self.root}/{path}")
        result = call()
        self.events.append((name, path, told))
        return result

    def report(self, **told: Any) -> None:
        """The program has said that something is safe."""
        self.events.append(("report", "", told))


@dataclass
class File:
    """A file: changes of its content in order, and how many of them are synced."""

    changes: list[tuple[int, bytes | None]] = field(default_factory=list)
    """Position and bytes of a write, or the size it was cut to and None."""
    synced: int = 0


@dataclass
class Folder:
    """A folder: changes of its names in order, and how many of them are synced."""

    changes: list[dict[str, Any]] = field(default_factory=list)
    """For each name what it leads to from then on; None for nothing."""
    synced: int = 0
    entries: dict[str, Any] = field(default_factory=dict)
    """What a program sees that runs."""

    def change(self, **names: Any) -> None:
        """Names lead elsewhere from now on."""
        self.changes.append(names)
        self.entries |= names


def at_power_cut(
    events: list[tuple[str, str, dict[str, Any]]], target: Path, luck: random.Random
) -> dict[str, Any]:
    """Writes to `target` a disk as it may be after the last of `events`; returns the reports."""
    root, reports = Folder(), dict[str, Any]()
    for name, path, told in events:
        if name == "report":
            reports |= told
        else:
            _follow(root, name, path, told)
    _write_folder(root, target, luck.choice(MANNERS), luck)
    return reports


def _follow(root: Folder, name: str, path: str, told: dict[str, Any]) -> None:
    parent, last = _parent(root, path)
    if name == "mkdir":
        parent.change(**{last: Folder()})
    elif name == "open":
        if told["is_new"]:
            parent.change(**{last: File()})
        elif told["flags"] & os.O_TRUNC:
            parent.entries[last].changes.append((0, None))
    elif name == "write":
        parent.entries[last].changes.append((told["offset"], told["data"]))
    elif name == "ftruncate":
        parent.entries[last].changes.append((told["size"], None))
    elif name == "fsync":
        node = root if path == "." else parent.entries[last]
        node.synced = len(node.changes)
    elif name in ("unlink", "remove", "rmdir"):
        parent.change(**{last: None})
    elif name in ("replace", "rename"):
        other, new = _parent(root, told["target"])
        if other is not parent:
            raise NotImplementedError(f"{path} is moved to another folder")
        parent.change(**{last: None, new: parent.entries[last]})
    elif name not in ("read", "listdir", "scandir"):
        raise NotImplementedError(name)


def _parent(root: Folder, path: str) -> tuple[Folder, str]:
    *folders, last = Path(path).parts or (".",)
    folder = root
    for name in folders:
        folder = folder.entries[name]
    return folder, last


def _applied(changes: list[dict[str, Any]]) -> dict[str, Any]:
    entries: dict[str, Any] = {}
    for change in changes:
        entries |= change
    return {name: node for name, node in entries.items() if node is not None}


def _write_folder(folder: Folder, target: Path, manner: str, luck: random.Random) -> None:
    target.mkdir()
    late = folder.changes[folder.synced :]
    for name, node in _applied(folder.changes[: folder.synced] + _some(late, manner, luck)).items():
        if isinstance(node, Folder):
            _write_folder(node, target / name, manner, luck)
        else:
            (target / name).write_bytes(_content(node, manner, luck))


def _some(late: list[dict[str, Any]], manner: str, luck: random.Random) -> list[dict[str, Any]]:
    """Those of the late changes of names that are on the disk."""
    if manner == "nothing":
        return []
    if manner == "in order":
        return late[: luck.randint(0, len(late))]
    if manner == "all":
        return late
    kept, missing = [], set[str]()
    for change in late:
        if missing & change.keys() or luck.random() < 0.5:
            missing |= change.keys()
        else:
            kept.append(change)
    return kept


def _content(file: File, manner: str, luck: random.Random) -> bytes:
    content = bytearray()
    for position, data in file.changes[: file.synced]:
        _change(content, position, data)
    safe = len(content)
    late = file.changes[file.synced :]
    if manner in ("nothing", "all"):
        late = [] if manner == "nothing" else late
    else:
        late = late[: luck.randint(0, len(late))]
    for position, data in late:
        _change(content, position, _torn(data, luck) if data and manner != "all" else data)
    if manner == "in any order" and len(content) > safe and luck.random() < 0.3:
        del content[luck.randint(safe, len(content)) :]
    return bytes(content)


def _change(content: bytearray, position: int, data: bytes | None) -> None:
    if data is None:
        del content[position:]
    content.extend(bytes(max(0, position - len(content))))
    content[position : position + len(data or b"")] = data or b""


def _torn(data: bytes, luck: random.Random) -> bytes:
    """Some of the sectors of a write are missing."""
    size, rubbish = luck.choice(SECTORS), luck.random() < 0.5
    torn = bytearray(data)
    for begin in range(0, len(data), size):
        if luck.random() < 0.5:
            length = len(torn[begin : begin + size])
            torn[begin : begin + size] = luck.randbytes(length) if rubbish else bytes(length)
    return bytes(torn)
