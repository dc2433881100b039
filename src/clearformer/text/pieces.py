r"""Where byte pairs may not merge across: a text cut into short pieces.

Byte pair encoding is quadratic in the length of a piece, and its training keeps every distinct
piece in memory. Usual patterns bound neither: a Japanese sentence, or 200 kB of one letter, is a
single piece. Here every piece has a bound, given with each class below:

    apostrophe or space + letters   " models", "'s"; 24 letters cover nearly all words
    kanji                           4 at most: compounds are mostly of two and four
    hiragana                        12 at most: endings and particles
    katakana                        16 at most: loan words
    space + digits                  3 at most, so that numbers have few distinct pieces
    space + punctuation + newlines  8 signs, 2 newlines: ".\n\n" can become one token
    blanks, newlines                16, 8 at most: indentation, empty lines

The pattern looks neither ahead nor behind, and uses explicit ranges only. Therefore a text may
be cut at any boundary of pieces without changing the others, and the pattern means the same in
every version of Python and in the expression engine of the `tokenizers` library.
"""

import re

from clearformer.text.cuts import Cuts
from clearformer.text.scripts import HIRAGANA, KANJI, KATAKANA, LONG_MARK, SOUND_MARKS

BLANK = "\t\x0b\x0c\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
DIGIT = "0-9\uff10-\uff19"
SIGN = (
    "\x00-\x08\x0e-\x1f!-/:-@\\[-`{-\x84\x86-\x9f\xa1-\xa9\xab-\xb4\xb6-\xb9\xbb-\xbf\xd7\xf7"
    "\u200b-\u2027\u202a-\u202e\u2030-\u205e\u2060-\u2bff\u2e00-\u2e7f"
    "\u3001-\u3004\u3008-\u3020\u3030\u303d\u309b\u309c\u30a0\u30fb"
    "\ufe00-\ufe1f\ufe30-\ufe6f\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65\ufff0-\uffff"
    "\U0001f000-\U0001faff\U000e0000-\U000effff"
)
"""Punctuation, symbols, controls, emoji and what joins emoji."""

APOSTROPHE = "'\u2019"
"""Signs that stand before the letters of a word."""

_LETTER = f"[^\n{BLANK}{DIGIT}{SIGN}{KANJI}{HIRAGANA}{KATAKANA}{SOUND_MARKS}]"
"""All that is nothing else: the letters and marks of every other script."""

PATTERN = "|".join(
    (
        f"[ {APOSTROPHE}]?{_LETTER}{{1,24}}",
        f"[{KANJI}]{{1,4}}",
        f"[{HIRAGANA}{SOUND_MARKS}][{HIRAGANA}{SOUND_MARKS}{LONG_MARK}]{{0,11}}",
        f"[{KATAKANA}][{KATAKANA}{SOUND_MARKS}]{{0,15}}",
        f" ?[{DIGIT}]{{1,3}}",
        f" ?[{SIGN}]{{1,8}}\n{{0,2}}",
        f"[{BLANK}]{{1,16}}",
        "\n{1,8}",
    )
)
"""Matches at every position of every text free of lone surrogates."""

PIECE = re.compile(PATTERN)

LONGEST_PIECE = 128
"""Bytes; no piece has more, and so no token (25 letters of 4 bytes each are 100)."""


def _last_border(text: str, position: int) -> int:
    """The end of the last piece that is complete before `position`.

    A piece that ends before the end of what is looked at would not be longer with more of it.
    """
    border = 0
    for match in PIECE.finditer(text, 0, position):
        if match.end() == position:
            break
        border = match.end()
    return border


CUTS = Cuts(
    always=re.compile(
        "(?<=\n)(?=[^\n])"  # newlines end a piece
        f"|(?<={_LETTER})(?=[ \n])"  # no piece has a blank or newline after a letter
        f"|(?<=[{HIRAGANA}{SIGN}])(?=[{KANJI}])"  # kanji are alone in theirs
    ),
    otherwise=_last_border,
)
"""Where a piece always ends; in a long run of one class, where it ends by its length."""
