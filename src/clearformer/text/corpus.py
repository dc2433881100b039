"""The text to learn from, read from files."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from clearformer.errors import TextError
from clearformer.text.fingerprint import Fingerprint
from clearformer.text.text_files import TextFiles


@dataclass(frozen=True)
class Corpus:
    """A text, where it came from, and what was noticed on the way."""

    text: str
    """With "\\n" as the end of a line."""

    sources: tuple[str, ...]
    """Names of the files, in order."""

    notes: tuple[str, ...]
    """One line each for a person to read: a byte order mark, line ends that were changed."""

    @property
    def characters(self) -> int:
        """Length in characters (code points)."""
        return len(self.text)

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of the text in UTF-8, hexadecimal."""
        fingerprint = Fingerprint()
        fingerprint.add(self.text)
        return str(fingerprint)


def read_corpus(paths: str | Path | Sequence[str | Path], encoding: str = "utf-8") -> Corpus:
    r"""Reads one or several files as one text, strictly.

    A file that does not end its last line is followed by a newline if another comes after it.
    A byte order mark is dropped, "\r\n" becomes "\n"; the notes tell of both.

    Raises:
        TextError: a file that is missing, a folder, unreadable, empty, blank, binary, or not in
            this encoding (with the first bad byte, and the encoding it looks like).
        ConfigurationError: there is no encoding of that name.
    """
    files = TextFiles(paths, encoding)
    try:
        text = "".join(files)
    except MemoryError:
        raise TextError(
            f"{', '.join(files.names)} cannot be read (it does not fit into memory); "
            "make a folder of it that need not: clearformer prepare"
        ) from None
    return Corpus(text, files.names, tuple(files.notes))


def default_corpus() -> Corpus:
    """The language documentation that every CPython carries (`pydoc_data.topics`), in English.

    Raises:
        TextError: this Python was installed without it.
    """
    try:
        from pydoc_data.topics import topics
    except ImportError:
        raise TextError(
            "no text was given, and this Python carries no pydoc_data.topics to learn from "
            "instead; name a text file"
        ) from None
    text = "\n".join(topics[name] for name in sorted(topics))
    version = ".".join(map(str, sys.version_info[:3]))
    note = (
        f"no text was given: the documentation of Python {version} serves as one "
        f"(pydoc_data.topics, {len(topics)} topics, {len(text):,} characters of English)"
    )
    return Corpus(text, ("pydoc_data.topics",), (note,))
