"""The text to learn from, read from files."""

import codecs
import hashlib
import stat
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from clearformer.errors import ConfigurationError, TextError
from clearformer.text.encoding_guess import marked_encoding, narrow_encoding, wide_encoding

CHUNK = 1 << 20
"""Characters hashed at a time."""

NOT_FOR_FILES = ("idna", "punycode", "raw-unicode-escape", "undefined", "unicode-escape", "utf-7")
"""Codecs of Python that turn bytes into text, but are not encodings of text files."""


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
        digest = hashlib.sha256()
        for start in range(0, len(self.text), CHUNK):
            digest.update(self.text[start : start + CHUNK].encode("utf-8", "surrogatepass"))
        return digest.hexdigest()


def read_corpus(paths: str | Path | Sequence[str | Path], encoding: str = "utf-8") -> Corpus:
    r"""Reads one or several files as one text, strictly.

    A file that does not end its last line is followed by a newline if another comes after it.
    A byte order mark is dropped, "\r\n" becomes "\n"; the notes tell of both. Each file's
    bytes are freed before the next is read.

    Raises:
        TextError: a file that is missing, a folder, unreadable, empty, blank, binary, or not in
            this encoding (with the first bad byte, and the encoding it looks like).
        ConfigurationError: there is no encoding of that name.
    """
    codec = _codec(encoding)
    files = [Path(paths)] if isinstance(paths, str | Path) else [Path(path) for path in paths]
    if not files:
        raise TextError("expected at least one text file; got none")
    texts: list[str] = []
    notes: list[str] = []
    for path in files:
        if texts and not texts[-1].endswith("\n"):
            texts.append("\n")
        text, remarks = _read_file(path, codec)
        texts.append(text)
        notes += [f"{_shown(path)}: {remark}" for remark in remarks]
    joined = texts[0] if len(texts) == 1 else "".join(texts)
    return Corpus(joined, tuple(_shown(path) for path in files), tuple(notes))


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


def _codec(encoding: str) -> codecs.CodecInfo:
    try:
        codec = codecs.lookup(encoding)
        if codec.name not in NOT_FOR_FILES:
            # Codecs such as "hex" turn bytes into bytes; `decode` refuses those before it reads.
            b"a".decode(encoding)
            return codec
    except UnicodeError:
        return codec  # one byte is no text in UTF-16, but UTF-16 is an encoding
    except (LookupError, ValueError):
        pass
    raise ConfigurationError(
        f"no text encoding is called {encoding!a}; some that are: utf-8, utf-16, shift_jis, "
        "euc_jp, cp1252"
    )


def _read_file(path: Path, codec: codecs.CodecInfo) -> tuple[str, list[str]]:
    raw = _bytes_of(path)
    mark = _mark(path, raw, codec)
    # UTF-8 could keep the mark, but dropping it later would copy the text.
    text = _decoded(path, raw, len(mark) if codec.name == "utf-8" else 0, codec)
    del raw
    notes = []
    if mark or text.startswith("\ufeff"):
        notes.append("a byte order mark at the start was dropped")
        text = text.removeprefix("\ufeff")
    _refuse_useless(path, text, codec)
    windows, lone = text.count("\r\n"), text.count("\r")
    if windows:
        text = text.replace("\r\n", "\n")
        notes.append(f"{windows:,} Windows line ends (CR LF) became newlines")
    if lone > windows:
        notes.append(f"{lone - windows:,} single carriage returns (CR) were kept")
    return text, notes


def _bytes_of(path: Path) -> bytes:
    name = _shown(path)
    try:
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            raise TextError(
                f"{name} is a folder, expected text files; give its files, such as {name}/*.txt"
            )
        if not (stat.S_ISREG(mode) or stat.S_ISFIFO(mode)):
            raise TextError(f"{name} is a device, expected a text file")
        raw = path.read_bytes()
    except FileNotFoundError:
        raise TextError(f"{name} does not exist; give the path of a text file") from None
    except ValueError as fault:
        raise fault if isinstance(fault, TextError) else _unreadable(name, str(fault)) from None
    except MemoryError:
        raise _unreadable(name, "it does not fit into memory") from None
    except OSError as fault:
        raise _unreadable(name, fault.strerror or str(fault)) from None
    if not raw:
        raise TextError(f"{name} is empty; give a file with text in it")
    return raw


def _unreadable(name: str, reason: str) -> TextError:
    return TextError(f"{name} cannot be read ({reason}); give a file that you may read")


def _mark(path: Path, raw: bytes, codec: codecs.CodecInfo) -> bytes:
    """The byte order mark that `raw` begins with; it must be one of the encoding asked for."""
    marked = marked_encoding(raw)
    if marked is None:
        return b""
    if not codec.name.startswith(marked[0]):
        raise TextError(
            f"{_shown(path)} is not {codec.name}: it begins with the byte order mark of "
            f"{marked[0].upper()}; try --encoding {marked[0]}"
        )
    return marked[1]


def _decoded(path: Path, raw: bytes, start: int, codec: codecs.CodecInfo) -> str:
    if codec.name in ("utf-8", "utf-8-sig"):
        _refuse_wide(path, raw)
    elif codec.name.startswith(("utf-16", "utf-32")) and _is_plain(raw):
        raise TextError(
            f"{_shown(path)} is not {codec.name}: it is valid UTF-8; leave --encoding out"
        )
    try:
        return str(memoryview(raw)[start:], codec.name)
    except UnicodeDecodeError as fault:
        place = start + fault.start
    except UnicodeError as fault:  # a codec that does not say where
        raise TextError(f"{_shown(path)} is not {codec.name}: {fault}") from None
    raise TextError(
        f"{_shown(path)} is not {codec.name}: byte {place:,} (0x{raw[place]:02X}) does not fit; "
        f"{_advice(raw, place, codec)}"
    )


def _is_plain(raw: bytes) -> bool:
    """Whether this is ASCII, which in pairs is UTF-16, too, of rare Chinese characters."""
    return raw.isascii() and 0 not in raw and wide_encoding(raw) is None


def _refuse_wide(path: Path, raw: bytes) -> None:
    """Zero bytes are valid UTF-8; a text in UTF-16 would pass as one full of NUL characters."""
    if raw.find(0) < 0:
        return
    looks = wide_encoding(raw)
    if looks is None:
        raise TextError(
            f"{_shown(path)} is binary, not text (byte {raw.find(0):,} is zero); give a text file"
        )
    raise TextError(
        f"{_shown(path)} is not utf-8: it looks like {looks.upper()}; try --encoding {looks}"
    )


def _advice(raw: bytes, place: int, codec: codecs.CodecInfo) -> str:
    if codec.name not in ("utf-8", "utf-8-sig"):
        try:
            raw.decode("utf-8")
        except UnicodeDecodeError:
            return "name its encoding with --encoding"
        return "it is valid UTF-8; leave --encoding out"
    if len(raw) - place < 4 and _ends_early(raw[place:]):
        return "the file ends in the middle of a character; it may be cut off"
    if max(raw[max(0, place - 4096) : place], default=0) > 0x7F:
        return "the text before it is UTF-8, so the file is probably damaged there"
    looks = narrow_encoding(raw)
    if looks is None:
        return "if it is text, name its encoding with --encoding"
    return f"it looks like {looks}; try --encoding {looks}"


def _ends_early(tail: bytes) -> bool:
    """Whether `tail` is the beginning of a character in UTF-8, and no more."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        return decoder.decode(tail) == "" and bool(decoder.getstate()[0])
    except UnicodeDecodeError:
        return False


def _refuse_useless(path: Path, text: str, codec: codecs.CodecInfo) -> None:
    if not text or text.isspace():
        raise TextError(f"{_shown(path)} holds nothing but blanks; give a file with text in it")
    zero = text.find("\0")
    if zero >= 0:
        raise TextError(
            f"{_shown(path)} is binary or not {codec.name} (character {zero:,} is NUL); "
            "give a text file, or its encoding with --encoding"
        )


def _shown(path: Path) -> str:
    """The path on one line that every terminal can print."""
    name = str(path)
    return name if name.isprintable() else ascii(name)[1:-1]
