"""Where the pieces of a whole text begin, found for all characters at once.

The same pieces as those of `pieces.PATTERN`, in a tenth of its time for a text of some thousand
characters. Each character gets a class. A run is a stretch of one class; it begins a piece, and a
long run begins another one after every so many characters. Then a space or an apostrophe in front
of a word is joined to it, and a newline to the signs before it. Two characters are of one class
or another by what is before them, the long mark and the sound marks: where that matters, which is
rare, the pattern itself is asked.
"""

import re
from functools import cache

import numpy as np

from clearformer.text.ids import Ids
from clearformer.text.pieces import APOSTROPHE, BLANK, DIGIT, PIECE, SIGN
from clearformer.text.scripts import HIRAGANA, KANJI, KATAKANA, LONG_MARK, SOUND_MARKS

_LETTERS, _DIGITS, _SIGNS, _KANJI, _HIRAGANA, _KATAKANA, _BLANKS, _NEWLINES = range(8)

_LONGEST = np.array([24, 3, 8, 4, 12, 16, 16, 8], np.uint8)
"""Characters of each class in one piece, without what is joined to them."""

_SPECIAL = 8
"""Added to the class of those with a rule of their own, which are in its runs all the same."""

_RUN = _SPECIAL - 1
"""Keeps the class of the run."""

_SPACE, _QUOTE = _BLANKS + _SPECIAL, _SIGNS + _SPECIAL
_SOUND_MARK, _LONG_MARK = _HIRAGANA + _SPECIAL, _KATAKANA + _SPECIAL

_CLASSES = {
    DIGIT: _DIGITS,
    SIGN: _SIGNS,
    KANJI: _KANJI,
    HIRAGANA: _HIRAGANA,
    KATAKANA: _KATAKANA,
    BLANK: _BLANKS,
    "\n": _NEWLINES,
    " ": _SPACE,
    APOSTROPHE: _QUOTE,
    SOUND_MARKS: _SOUND_MARK,
    LONG_MARK: _LONG_MARK,
}
"""Later ones count; all other characters are letters."""


def piece_borders(text: str, points: Ids) -> Ids:
    """Where a piece begins or ends (pieces + 1,), from 0 to the length of the text.

    Args:
        text: at least one character, and no lone surrogates.
        points: the number (characters,) of each character.
    """
    kind = _classes(points)
    run = kind & _RUN
    before, after = run[:-1], run[1:]
    borders = np.ones(len(run) + 1, bool)
    inner = borders[1:-1]
    np.not_equal(before, after, out=inner)
    lines = 1 + np.flatnonzero((before == _SIGNS) & (after == _NEWLINES))
    third = lines[lines < len(run) - 2] + 2  # two newlines belong to the signs
    borders[third[(run[third - 1] == _NEWLINES) & (run[third] == _NEWLINES)]] = True
    borders[_within_long_runs(run, np.flatnonzero(borders))] = True
    inner &= ~(borders[:-2] & (kind[:-1] == _SPACE) & (after <= _SIGNS))
    inner &= ~(borders[:-2] & (kind[:-1] == _QUOTE) & (after == _LETTERS))
    borders[lines] = False
    _ask_for_marks(text, kind, run, borders)
    return np.flatnonzero(borders)


def _within_long_runs(run: Ids, borders: Ids) -> Ids:
    """Where a run that is too long for one piece begins the next ones."""
    longest = _LONGEST.take(run.take(borders[:-1]))
    lengths = np.diff(borders)
    long = np.flatnonzero(lengths > longest)
    begins, longest = borders[long], longest[long].astype(np.int64)
    more = (lengths[long] - 1) // longest
    numbers = np.arange(more.sum()) - np.repeat(np.cumsum(more) - more, more) + 1
    return np.repeat(begins, more) + numbers * np.repeat(longest, more)


def _ask_for_marks(text: str, kind: Ids, run: Ids, borders: Ids) -> None:
    """Corrects `borders` in kana where a long mark follows hiragana or a sound mark katakana."""
    lengthened = (kind[1:] == _LONG_MARK) & (run[:-1] == _HIRAGANA)
    voiced = (kind[1:] == _SOUND_MARK) & (run[:-1] == _KATAKANA)
    marks = 1 + np.flatnonzero(lengthened | voiced)
    if not marks.size:
        return
    kana = (run == _HIRAGANA) | (run == _KATAKANA)
    edges = np.flatnonzero(np.diff(kana, prepend=False, append=False)).reshape(-1, 2)
    stretches = np.unique(np.searchsorted(edges[:, 0], marks, "right") - 1)
    for begin, end in edges[stretches].tolist():
        borders[begin:end] = False
        borders[[match.start() for match in PIECE.finditer(text, begin, end)]] = True


def _classes(points: Ids) -> Ids:
    """The class (characters,) of each."""
    if points.dtype != np.uint8:
        return _class_of_each().take(points)
    return np.frombuffer(points.tobytes().translate(_class_of_each()[:256].tobytes()), np.uint8)


@cache
def _class_of_each() -> Ids:
    """The class (1114112,) of every character."""
    classes = np.full(0x110000, _LETTERS, np.uint8)
    for ranges, number in _CLASSES.items():
        for first, last in re.findall(r"\\?(.)(?:-\\?(.))?", ranges, re.DOTALL):
            classes[ord(first) : ord(last or first) + 1] = number
    return classes
