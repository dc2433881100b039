"""How a day is written in Japanese: in years since Christ, and in years of the eras (和暦)."""

from collections.abc import Callable
from datetime import date

from clearformer.tasks.eras import FULL_WIDTH, KANJI_DIGITS, era_of, in_kanji

WEEKDAYS = "月火水木金土日"


def weekday(day: date) -> str:
    """水, of a Wednesday."""
    return WEEKDAYS[day.weekday()]


def western(day: date) -> str:
    """2021年3月3日."""
    return f"{day.year}年{day.month}月{day.day}日"


def western_in_kanji(day: date) -> str:
    """二〇二一年三月三日."""
    year = str(day.year).translate(KANJI_DIGITS)
    return f"{year}年{in_kanji(day.month)}月{in_kanji(day.day)}日"


def of_era(day: date) -> str:
    """令和3年3月3日; the first year is 元年."""
    era, year = era_of(day)
    return f"{era.name}{'元' if year == 1 else year}年{day.month}月{day.day}日"


def of_era_in_kanji(day: date) -> str:
    """令和三年三月三日; the first year is 元年."""
    era, year = era_of(day)
    written = "元" if year == 1 else in_kanji(year)
    return f"{era.name}{written}年{in_kanji(day.month)}月{in_kanji(day.day)}日"


def of_era_in_numbers(day: date) -> str:
    """令和3年3月3日; the first year is 1年, as forms have it."""
    era, year = era_of(day)
    return f"{era.name}{year}年{day.month}月{day.day}日"


def short_era(day: date, separator: str = ".") -> str:
    """R3.3.3."""
    era, year = era_of(day)
    return separator.join((f"{era.letter}{year}", str(day.month), str(day.day)))


def short_era_filled(day: date) -> str:
    """R03.03.03."""
    era, year = era_of(day)
    return f"{era.letter}{year:02}.{day.month:02}.{day.day:02}"


def sign_of_era(day: date) -> str:
    """㋿3年3月3日."""
    era, year = era_of(day)
    return f"{era.sign}{year}年{day.month}月{day.day}日"


SPELLINGS: tuple[Callable[[date], str], ...] = (
    western,
    lambda d: f"{d.year}年{d.month:02}月{d.day:02}日",
    lambda d: f"西暦{western(d)}",
    lambda d: western(d).translate(FULL_WIDTH),
    lambda d: f"{western(d)}({weekday(d)})",
    lambda d: f"{western(d)}（{weekday(d)}）",
    lambda d: f"{western(d)} {weekday(d)}曜日",
    western_in_kanji,
    lambda d: f"西暦{western_in_kanji(d)}",
    lambda d: f"{d.year}/{d.month}/{d.day}",
    lambda d: f"{d.year}/{d.month:02}/{d.day:02}({weekday(d)})",
    lambda d: f"{d.year}.{d.month}.{d.day}",
    of_era,
    lambda d: of_era(d).translate(FULL_WIDTH),
    of_era_in_numbers,
    lambda d: f"{of_era(d)}({weekday(d)})",
    lambda d: f"{of_era(d)}（{weekday(d)}曜日）",
    of_era_in_kanji,
    lambda d: f"{of_era_in_kanji(d)}（{weekday(d)}）",
    short_era,
    lambda d: short_era(d, "/"),
    short_era_filled,
    lambda d: short_era(d).lower(),
    sign_of_era,
    lambda d: f"{era_of(d)[0].name[0]}{short_era(d)[1:]}",
)
"""Each writes a day from 1873 to 2099; no two days are ever written alike.

The last era is taken to go on: 2099 is 令和81年."""
