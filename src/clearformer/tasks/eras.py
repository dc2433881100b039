"""The eras of Japan since it took over the solar calendar, and numbers as they are written there.

An era begins on a day in the middle of a year, and that year is its first: 7 January 1989 is the
7th of January of Shōwa 64, the day after belongs to Heisei 1. Meiji began in 1868, before the solar
calendar, which holds from 1 January of Meiji 6 = 1873; so nothing here is earlier than that.
"""

from bisect import bisect_right
from dataclasses import dataclass
from datetime import date


@dataclass(frozen=True)
class Era:
    """One era; the next one begins where it ends."""

    name: str
    """In characters: 令和."""
    letter: str
    """As forms abbreviate it: R."""
    sign: str
    """The name in one character: ㋿."""
    first: date
    """Its first day; of Meiji, the first in the solar calendar."""
    before: int
    """The year before its first."""


ERAS = (
    Era("明治", "M", "㍾", date(1873, 1, 1), 1867),
    Era("大正", "T", "㍽", date(1912, 7, 30), 1911),
    Era("昭和", "S", "㍼", date(1926, 12, 25), 1925),
    Era("平成", "H", "㍻", date(1989, 1, 8), 1988),
    Era("令和", "R", "㋿", date(2019, 5, 1), 2018),
)
"""The days on which each emperor's era was proclaimed to begin. The last goes on."""

_FIRST_DAYS = [era.first for era in ERAS]


def era_of(day: date) -> tuple[Era, int]:
    """The era of a day from 1873 on, and the year in it, counted from 1."""
    era = ERAS[bisect_right(_FIRST_DAYS, day) - 1]
    return era, day.year - era.before


FULL_WIDTH = str.maketrans("0123456789", "０１２３４５６７８９")
"""Digits as wide as characters."""

KANJI_DIGITS = str.maketrans("0123456789", "〇一二三四五六七八九")
"""Digits of a year, one by one: 二〇二一."""


def in_kanji(number: int) -> str:
    """A number from 1 to 99 in characters: 三, 十, 二十一."""
    tens, ones = divmod(number, 10)
    many = str(tens) if tens > 1 else ""
    text = f"{many}{'十' if tens else ''}{ones or ''}"
    return text.translate(KANJI_DIGITS)
