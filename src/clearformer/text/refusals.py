"""Why a file is no text in the encoding it was read in: one line that says what would do.

What is wrong with a file is looked for only once reading has failed, and then again piece by
piece: a file may be larger than the memory.
"""

import codecs
from io import BufferedIOBase
from pathlib import Path

from clearformer.errors import TextError
from clearformer.text.encoding_guess import SAMPLE, fits, narrow_encoding, wide_encoding
from clearformer.text.file_encoding import UTF_8

NEARBY = 4096
"""Bytes before a bad one that tell whether the file was UTF-8 up to there."""


def shown(path: Path) -> str:
    """The path on one line that every terminal can print."""
    name = str(path)
    return name if name.isprintable() else ascii(name)[1:-1]


def unreadable(name: str, reason: str) -> TextError:
    """The system does not let the file be read."""
    return TextError(f"{name} cannot be read ({reason}); give a file that you may read")


def blank(name: str) -> TextError:
    """There is nothing to be learned from it."""
    return TextError(f"{name} holds nothing but blanks; give a file with text in it")


def null_character(name: str, encoding: str, place: int) -> TextError:
    """The character at `place` is NUL, in an encoding in which zero bytes are allowed."""
    return TextError(
        f"{name} is binary or not {encoding} (character {place:,} is NUL); "
        "give a text file, or its encoding with --encoding"
    )


def other_mark(name: str, encoding: str, marked: str) -> TextError:
    """It begins with the byte order mark of another encoding."""
    return TextError(
        f"{name} is not {encoding}: it begins with the byte order mark of "
        f"{marked.upper()}; try --encoding {marked}"
    )


def zero_byte(file: BufferedIOBase, name: str, place: int) -> TextError:
    """Zero bytes are valid UTF-8; a text in UTF-16 would pass as one full of NUL characters."""
    looks = wide_encoding(part(file, 0, SAMPLE))
    if looks is None:
        return TextError(f"{name} is binary, not text (byte {place:,} is zero); give a text file")
    return TextError(f"{name} is not utf-8: it looks like {looks.upper()}; try --encoding {looks}")


def plain_as_wide(file: BufferedIOBase, name: str, encoding: str) -> TextError | None:
    """ASCII in pairs is UTF-16, too, of rare Chinese characters: refuses to read it as that."""
    file.seek(0)
    while raw := file.read(SAMPLE):
        if not raw.isascii() or 0 in raw:
            return None
    if wide_encoding(part(file, 0, SAMPLE)) is not None:
        return None
    return TextError(f"{name} is not {encoding}: it is valid UTF-8; leave --encoding out")


def bad_byte(file: BufferedIOBase, name: str, encoding: str, place: int) -> TextError:
    """The byte at `place` is the first that does not fit `encoding`."""
    if encoding in UTF_8:  # a zero byte says more than a bad one, wherever it is
        zero = _first_zero(file)
        if zero >= 0:
            return zero_byte(file, name, zero)
    (value,) = part(file, place, place + 1)
    return TextError(
        f"{name} is not {encoding}: byte {place:,} (0x{value:02X}) does not fit; "
        f"{_advice(file, place, encoding)}"
    )


def part(file: BufferedIOBase, start: int, stop: int) -> bytes:
    """The bytes of `file` from `start` to `stop`."""
    file.seek(start)
    return file.read(stop - start)


def _first_zero(file: BufferedIOBase) -> int:
    """Where the first zero byte is, or -1."""
    file.seek(0)
    before = 0
    while raw := file.read(SAMPLE):
        found = raw.find(0)
        if found >= 0:
            return before + found
        before += len(raw)
    return -1


def _advice(file: BufferedIOBase, place: int, encoding: str) -> str:
    if encoding not in UTF_8:
        plain = fits(file, "utf-8")
        return (
            "it is valid UTF-8; leave --encoding out"
            if plain
            else "name its encoding with --encoding"
        )
    tail = part(file, place, place + 4)
    if len(tail) < 4 and _ends_early(tail):
        return "the file ends in the middle of a character; it may be cut off"
    if not part(file, max(0, place - NEARBY), place).isascii():
        return "the text before it is UTF-8, so the file is probably damaged there"
    looks = narrow_encoding(file)
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
