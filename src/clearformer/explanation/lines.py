"""Lines of styled text, and how wide they are on a terminal."""

import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Literal, NamedTuple

Style = Literal[
    "plain", "title", "section", "shape", "formula", "label", "number", "strong", "faint", "note"
]
"""What a piece of text is; the command line gives each a colour, plain text none."""

DOTTED_CIRCLE = "\u25cc"
JOINT = "\u00a0"
NEVER_FIRST = (
    "、。，．・：；？！）」』】〕〉》ー々〜…‥％,.:;?!)]}ぁぃぅぇぉっゃゅょァィゥェォッャュョ"
)
"""Characters that begin no line of Japanese (kinsoku)."""
NEVER_LAST = "（「『【〔〈《([{"
"""Characters that end no line of Japanese."""
VISIBLE = {" ": "␣", "\n": "⏎", "\r": "␍", "\t": "⇥", "\u3000": "＿"}
"""Marks for what would be invisible in a table; U+3000 is the full-width space of Japanese."""


class Segment(NamedTuple):
    """A piece of a line."""

    text: str
    style: Style = "plain"


Line = tuple[Segment, ...]


@lru_cache(maxsize=4096)
def cell_width(text: str) -> int:
    """Columns that `text` takes: two for each full-width character, none for marks set above."""
    return sum(_width(character) for character in text)


def visible(text: str) -> str:
    """`text` with spaces and line ends as marks, and whatever does not print as `<U+001B>`.

    No control character remains, so that no token can steer the terminal.
    """
    shown = "".join(_shown(character) for character in text)
    return DOTTED_CIRCLE + shown if shown and _width(shown[0]) == 0 else shown


def shortened(text: str, width: int) -> str:
    """`text` cut to `width` columns, with … where it was cut."""
    if cell_width(text) <= width:
        return text
    kept, used = "", 1
    for character in text:
        used += _width(character)
        if used > width:
            break
        kept += character
    return f"{kept}…"


def left(text: str, width: int) -> str:
    """`text` filled with spaces on the right to `width` columns."""
    return text + " " * (width - cell_width(text))


def right(text: str, width: int) -> str:
    """`text` filled with spaces on the left to `width` columns."""
    return " " * (width - cell_width(text)) + text


def wrapped(text: str, width: int) -> Iterator[str]:
    """`text` in lines of at most `width` columns; U+00A0 holds together.

    Lines end at spaces, and beside full-width characters, save where Japanese forbids it.
    """
    line = ""
    for gap, piece in _pieces(text):
        if line and cell_width(line + gap + piece) > width:
            yield line.replace(JOINT, " ")
            line = piece
        else:
            line = line + gap + piece if line else piece
    yield line.replace(JOINT, " ")


def plain(lines: Sequence[Line]) -> str:
    """The lines without their styles."""
    return "\n".join("".join(segment.text for segment in line).rstrip() for line in lines)


def _pieces(text: str) -> Iterator[tuple[str, str]]:
    """What no line may part, each with the gap before it: a space or nothing."""
    for number, word in enumerate(text.split(" ")):
        gap, begin = " " if number else "", 0
        for end in range(1, len(word)):
            if _parts(word[end - 1], word[end]):
                yield gap, word[begin:end]
                gap, begin = "", end
        yield gap, word[begin:]


def _parts(before: str, after: str) -> bool:
    """Whether a line may end between two characters that stand together."""
    full = 2 in (_width(before), _width(after))
    marked = JOINT in (before, after) or not _width(after)
    return full and not marked and after not in NEVER_FIRST and before not in NEVER_LAST


@lru_cache(maxsize=4096)
def _width(character: str) -> int:
    if unicodedata.combining(character) or unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def _shown(character: str) -> str:
    if character in VISIBLE:
        return VISIBLE[character]
    category = unicodedata.category(character)
    if category[0] == "C" or category in ("Zs", "Zl", "Zp"):
        return f"<U+{ord(character):04X}>"
    return character
