"""Reads dates however they are written: an answer to the task that shares nothing with it.

It takes the text alone, so whatever it reads rightly can be read in one way only.
"""

import re
from datetime import date

MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]

FROM_A_WEDNESDAY = ["wed", "thu", "fri", "sat", "sun", "mon", "tue"], "水木金土日月火"

ERAS = {
    "明治": (1868, date(1868, 10, 23), date(1912, 7, 29)),
    "大正": (1912, date(1912, 7, 30), date(1926, 12, 24)),
    "昭和": (1926, date(1926, 12, 25), date(1989, 1, 7)),
    "平成": (1989, date(1989, 1, 8), date(2019, 4, 30)),
    "令和": (2019, date(2019, 5, 1), date(9999, 12, 31)),
}
"""The first year, the first day and the last."""

SHORT = dict(zip("mtshr", ERAS, strict=True))
FIRST_CHARACTERS = {name[0]: name for name in ERAS}
SIGNS = dict(zip("\u337e\u337d\u337c\u337b\u32ff", ERAS, strict=True))


def read(text: str) -> date:
    """The day that is meant.

    Raises:
        ValueError: it says a weekday that the day is not, an ordinal with a wrong ending, a day
            outside its era, or it cannot be read.
    """
    if "年" in text or re.match(r"[mtshrMTSHR明大昭平令]\d", text):
        return read_japanese(text)
    day, weekday = re.fullmatch(r"([\d/]+)\((.)\)", text), None
    if day:
        text, weekday = day.groups()
    return must_be(read_english(text), weekday)


def must_be(day: date, weekday: str | None) -> date:
    number = (day - date(2021, 3, 3)).days % 7  # that was a Wednesday
    if weekday and not any(weekday.startswith(names[number]) for names in FROM_A_WEDNESDAY):
        raise ValueError(f"{day} is no {weekday}")
    return day


def read_english(text: str) -> date:
    words = re.findall(r"[a-z]+|\d+", text.lower())
    months = [word for word in words if word[:3] in MONTHS and word not in ("mon", "monday")]
    numbers = [int(word) for word in words if word.isdigit()]
    if not months:
        if len(numbers) == 1:
            return date(numbers[0] // 10_000, numbers[0] // 100 % 100, numbers[0] % 100)
        return date(*(numbers if numbers[0] > 31 else numbers[::-1]))
    (month,) = months
    year, number = max(numbers), min(numbers)
    day = date(year, MONTHS.index(month[:3]) + 1, number)
    rest = [word for word in words if not word.isdigit() and word != month]
    for word in rest:
        if word in ("st", "nd", "rd", "th"):
            if word != ending(number):
                raise ValueError(f"{number}{word}")
        elif word not in ("of", "the"):
            must_be(day, word)
    return day


def ending(number: int) -> str:
    for ending, numbers in (("st", (1, 21, 31)), ("nd", (2, 22)), ("rd", (3, 23))):
        if number in numbers:
            return ending
    return "th"


def read_japanese(text: str) -> date:
    body, _, said = re.fullmatch(
        r"(.*?)( |\(|（|$)(?:(.)(?:曜日)?[)）]?)?", text.removeprefix("西暦")
    ).groups()
    era = body[0] in SIGNS or body[:2] in ERAS or body[0].lower() in SHORT
    era = era or body[0] in FIRST_CHARACTERS
    if not era:
        year, month, day = map(number, re.fullmatch(r"(.+)年(.+)月(.+)日", body).groups())
        return must_be(date(year, month, day), said)
    letters = body[:2] if body[:2] in ERAS else body[0].lower()
    name = {**SIGNS, **SHORT, **FIRST_CHARACTERS}.get(letters, letters)
    numbers = [part for part in re.split(r"[年月日./]", body[len(letters) :]) if part]
    year, month, day = map(number, numbers)
    first_year, begin, end = ERAS[name]
    found = date(first_year + year - 1, month, day)
    if not begin <= found <= end:
        raise ValueError(f"{text} is not in {name}")
    return must_be(found, said)


def number(text: str) -> int:
    if text == "元":
        return 1
    if text.isdecimal():  # also full-width digits
        return int(text)
    digits = {character: value for value, character in enumerate("〇一二三四五六七八九")}
    if "十" not in text:
        return int("".join(str(digits[character]) for character in text))
    tens, _, ones = text.partition("十")
    return 10 * digits.get(tens, 1) + digits.get(ones, 0)
