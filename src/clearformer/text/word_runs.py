"""Runs of a text: words, and separators between them."""

import re
import unicodedata
from collections.abc import Iterator
from functools import cache
from operator import itemgetter

from clearformer.text.cuts import Cuts
from clearformer.text.scripts import (
    HIRAGANA,
    KANJI,
    KATAKANA,
    LONG_MARK,
    SOUND_MARKS,
    UNSPACED,
    VARIANTS,
)


def told(text: str) -> Iterator[str]:
    """The runs of `text` that have a token: all but " " between two spaced words."""
    if any(mark in text for mark in SOUND_MARKS):
        return _told_one_by_one(text)
    return filter(None, map(itemgetter(1), _runs_told().finditer(text)))


def _told_one_by_one(text: str) -> Iterator[str]:
    """The same by the rule itself: half as fast, but it knows what a sound mark belongs to."""
    begins = re.compile(f"[{letters()}]").match
    held = ""  # a space that follows a spaced word: told unless a spaced word comes next
    before = False
    for match in re.compile(_runs()).finditer(text):
        run = match[0]
        spaced = begins(run) is not None
        if held and not spaced:
            yield held
        held = ""
        if run == " " and before:
            held = run
        else:
            yield run
        before = spaced
    if held:
        yield held


@cache
def _runs_told() -> re.Pattern[str]:
    """A space between two letters, or a run as its group; for text without sound marks.

    There a letter before a space is the end of a spaced word, and one after it the start of one.
    """
    letter = f"[{letters()}]"
    return re.compile(f"(?<={letter}) (?={letter})|({_runs()})")


@cache
def _runs() -> str:
    letter = f"[{letters()}]"
    return (
        f"{letter}+(?:['\u2019]{letter}+)*"
        f"|[^{letters()}{UNSPACED}]+"
        f"|[{KANJI}][{KANJI}{VARIANTS}]*"
        f"|[{HIRAGANA}][{HIRAGANA}{LONG_MARK}{SOUND_MARKS}]*"
        f"|[{KATAKANA}][{KATAKANA}{SOUND_MARKS}]*"
    )


@cache
def word_cuts() -> Cuts:
    """Where a run always ends, and neither it nor the next is the space that is implied.

    Or around that space. A sound mark is told to be part of a word or of hiragana only by what is
    before it; an apostrophe can be inside a word.
    """
    letter = letters()
    return Cuts(
        re.compile(
            f"(?<![{SOUND_MARKS}])(?<=[{letter}]) (?=[{letter}])"
            f"|(?<=[^{letter}{UNSPACED} '\u2019])(?=[{letter}{UNSPACED}])"
            f"|(?<=[{KANJI}])(?=[{HIRAGANA}])|(?<=[{HIRAGANA}])(?=[{KANJI}])"
        )
    )


@cache
def letters() -> str:
    r"""Ranges of the letters, digits and marks of scripts that put spaces between words.

    Python's `\w` lacks the combining marks that many scripts write their vowels with. Beyond
    the first plane all scripts count, and no symbols (music, emoji).
    """
    unspaced = re.compile(f"[{UNSPACED}{VARIANTS}]")
    ranges: list[list[int]] = []
    for point in range(0x10000):
        character = chr(point)
        letter = character == "_" or character.isalnum()
        letter = letter or unicodedata.category(character) in ("Mn", "Mc")
        if not letter or unspaced.match(character):
            continue
        if ranges and ranges[-1][1] == point - 1:
            ranges[-1][1] = point
        else:
            ranges.append([point, point])
    first_plane = "".join(f"{chr(first)}-{chr(last)}" for first, last in ranges)
    return first_plane + "\U00010000-\U0001cfff\U0001d400-\U0001efff"
