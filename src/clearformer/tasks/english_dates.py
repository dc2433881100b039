"""How a day is written in English.

Where only digits stand, the order is told by what comes first: a year of four digits, or else, by
the convention of this task, the day: 03/04/2021 and 3.4.2021 are the third of April.
"""

from collections.abc import Callable
from datetime import date

MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip

WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


def ordinal(number: int) -> str:
    """1st, 2nd, 3rd, 4th, 11th, 21st …"""
    endings = {1: "st", 2: "nd", 3: "rd"}
    return f"{number}{'th' if number // 10 == 1 else endings.get(number % 10, 'th')}"


def month(day: date) -> str:
    """March."""
    return MONTHS[day.month - 1]


def weekday(day: date) -> str:
    """Wednesday."""
    return WEEKDAYS[day.weekday()]


def short_month(day: date) -> str:
    """Mar."""
    return month(day)[:3]


def short_weekday(day: date) -> str:
    """Wed."""
    return weekday(day)[:3]


SPELLINGS: tuple[Callable[[date], str], ...] = (
    lambda d: f"{d.day} {month(d)} {d.year}",
    lambda d: f"{d.day:02} {month(d)} {d.year}",
    lambda d: f"{d.day} {short_month(d)} {d.year}",
    lambda d: f"{d.day:02}-{short_month(d)}-{d.year}",
    lambda d: f"{ordinal(d.day)} {month(d)} {d.year}",
    lambda d: f"{ordinal(d.day)} {short_month(d)} {d.year}",
    lambda d: f"{ordinal(d.day)} of {month(d)} {d.year}",
    lambda d: f"the {ordinal(d.day)} of {month(d)}, {d.year}",
    lambda d: f"{month(d)} {d.day}, {d.year}",
    lambda d: f"{month(d)} {ordinal(d.day)}, {d.year}",
    lambda d: f"{short_month(d)} {d.day}, {d.year}",
    lambda d: f"{short_month(d)} {ordinal(d.day)}, {d.year}",
    lambda d: f"{short_month(d)}. {d.day}, {d.year}" if d.month != 5 else f"May {d.day}, {d.year}",
    lambda d: f"{month(d)} {d.day} {d.year}".lower(),
    lambda d: f"{d.day} {month(d)} {d.year}".upper(),
    lambda d: f"{d.year} {month(d)} {d.day}",
    lambda d: f"{weekday(d)} {d.day} {month(d)} {d.year}",
    lambda d: f"{weekday(d)}, {d.day} {month(d)} {d.year}",
    lambda d: f"{weekday(d)}, {month(d)} {d.day}, {d.year}",
    lambda d: f"{weekday(d)}, {month(d)} {ordinal(d.day)}, {d.year}",
    lambda d: f"{short_weekday(d)} {d.day} {short_month(d)} {d.year}",
    lambda d: f"{short_weekday(d)}, {d.day:02} {short_month(d)} {d.year}",
    lambda d: f"{d.day:02}/{d.month:02}/{d.year}",
    lambda d: f"{d.day}/{d.month}/{d.year}",
    lambda d: f"{d.day}.{d.month}.{d.year}",
    lambda d: f"{d.year}.{d.month}.{d.day}",
    lambda d: f"{d.year}/{d.month:02}/{d.day:02}",
    lambda d: f"{d.year:04}{d.month:02}{d.day:02}",
)
"""Each writes a day from 1873 to 2099; no two days are ever written alike."""
