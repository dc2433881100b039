"""Pairs of texts, a source and its target, from files with two columns."""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TypeAlias

import numpy as np

from clearformer.errors import TextError
from clearformer.tensor import Int
from clearformer.text.corpus import read_corpus
from clearformer.text.fingerprint import Fingerprint

Pair: TypeAlias = tuple[str, str]

ONE_IN = 10
"""One of so many sources is never trained on."""

SHOWN = 40
"""Characters of a line at fault that a message shows."""


@dataclass(frozen=True, eq=False)
class Pairs:
    """Sources with their targets, where they came from, and what was noticed on the way."""

    pairs: tuple[Pair, ...]
    files: tuple[str, ...]
    """Names of the files, in order."""
    starts: tuple[int, ...]
    """The number of the first pair of each file."""
    notes: tuple[str, ...] = ()
    """One line each for a person to read."""

    def __len__(self) -> int:
        return len(self.pairs)

    def place(self, number: int) -> str:
        """Where pair `number` stands, such as `dates.tsv, line 3`: every line is a pair."""
        file = int(np.searchsorted(self.starts, number, "right")) - 1
        return f"{self.files[file]}, line {number - self.starts[file] + 1:,}"

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of the lines in UTF-8, hexadecimal."""
        fingerprint = Fingerprint()
        for source, target in self.pairs:
            fingerprint.add(f"{source}\t{target}\n")
        return str(fingerprint)

    @cached_property
    def characters(self) -> int:
        """Length of both sides of all pairs, in characters (code points)."""
        return sum(len(source) + len(target) for source, target in self.pairs)

    def split(self) -> tuple[Int[np.ndarray, " train"], Int[np.ndarray, " validation"]]:
        """The numbers of the pairs to learn from, and of those to be judged by, both in order.

        A hash of the source decides: equal sources are on the same side, in every file and version.
        """
        held_out = np.array([is_held_out(source) for source, _ in self.pairs], bool)
        return np.flatnonzero(~held_out), np.flatnonzero(held_out)


def is_held_out(source: str) -> bool:
    """Whether pairs with this source are never trained on; so is about one source in ten."""
    digest = hashlib.blake2b(source.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big") % ONE_IN == 0


def read_pairs(paths: str | Path | Sequence[str | Path], encoding: str = "utf-8") -> Pairs:
    r"""Reads files of pairs strictly: `source<TAB>target` on each line.

    A byte order mark is dropped, "\r\n" becomes "\n"; the notes tell of both.

    Raises:
        TextError: a file that cannot be read, as in `read_corpus`; or a line that is no pair, with
            its number.
        ConfigurationError: there is no encoding of that name.
    """
    names = [paths] if isinstance(paths, str | Path) else list(paths)
    found: list[Pair] = []
    files: list[str] = []
    notes: list[str] = []
    starts: list[int] = []
    for name in names:
        corpus = read_corpus(name, encoding)
        files += corpus.sources
        starts.append(len(found))
        notes += corpus.notes
        found += pairs_in(corpus.text, corpus.sources[0])
    if not found:
        raise TextError("no file was named; give a file of pairs: source<TAB>target on each line")
    return Pairs(tuple(found), tuple(files), tuple(starts), tuple(notes))


def pairs_in(text: str, name: str) -> Iterator[Pair]:
    """The pairs of a text, one on each line; `name` is for messages.

    Raises:
        TextError: a line with fewer or more columns than two, or with an empty side.
    """
    lines = text.split("\n")
    if lines and not lines[-1]:
        del lines[-1]  # after the last end of a line there is no line
    for number, line in enumerate(lines, 1):
        yield _pair(line, f"{name}, line {number:,}")


def _pair(line: str, place: str) -> Pair:
    columns = line.split("\t")
    if len(columns) != 2:
        got = "an empty line" if not line else f"{len(columns)} column{'s' * (len(columns) != 1)}"
        raise TextError(
            f"{place}: expected two columns with one tab between them, source and target; "
            f"got {got}{_shown(line)}"
        )
    for side, text in zip(("source", "target"), columns, strict=True):
        if not text.strip():
            raise TextError(
                f"{place}: expected a text on both sides of the tab; the {side} is empty"
                f"{_shown(line)}; fill it in, or leave the line out"
            )
    return columns[0], columns[1]


def _shown(line: str) -> str:
    if not line.strip():
        return ""
    return f": {line[:SHOWN]!r}{'…' * (len(line) > SHOWN)}"


def write_pairs(path: str | Path, pairs: Iterable[Pair]) -> None:
    """Writes pairs to a file that `read_pairs` reads, in UTF-8.

    Raises:
        TextError: a side is empty, or holds a tab or the end of a line; or the file cannot be
            written.
    """
    lines = []
    for number, (source, target) in enumerate(pairs, 1):
        line = f"{source}\t{target}"
        if "\n" in line or "\r" in line:
            raise TextError(
                f"{path}, line {number:,}: a side of a pair is one line; got the end of a line in "
                f"it{_shown(line)}"
            )
        _pair(line, f"{path}, line {number:,}")
        lines.append(f"{line}\n")
    try:
        Path(path).write_text("".join(lines), encoding="utf-8", newline="\n")
    except OSError as fault:
        raise TextError(f"{path} cannot be written ({fault.strerror or fault})") from None
