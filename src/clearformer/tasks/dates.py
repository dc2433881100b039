"""Dates: what day is meant, in ISO form (ISO 8601), however it is written.

The parts are made of days, not of texts: a day of `test` never occurs in `train`, in no spelling
and in neither language. So whoever is right has understood how dates are written.

One date is short: a state of a few hundred numbers holds it whole. With several in a row,

    3 March 2021; 平成元年1月8日; Dec 31, 1999  →  2021-03-03 1989-01-08 1999-12-31

a model that reads all before it writes has to hold all of them; one that looks back has not.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cache, cached_property
from itertools import chain
from typing import ClassVar, Literal, get_args

import numpy as np

from clearformer.errors import ConfigurationError
from clearformer.tasks import english_dates, japanese_dates
from clearformer.tasks.eras import ERAS
from clearformer.tasks.parts import check_part, part_of
from clearformer.tasks.settings import check_whole
from clearformer.tasks.task import Pair, PairTask, Part

Languages = Literal["en", "ja", "both"]

FIRST, LAST = 1873, 2099

MOST_DAYS = 100

BETWEEN, BETWEEN_ISO = "; ", " "
"""Between several spellings, and between several days in ISO form. No spelling has a semicolon."""

SPELLINGS: dict[str, tuple[Callable[[date], str], ...]] = {
    "en": english_dates.SPELLINGS,
    "ja": japanese_dates.SPELLINGS,
    "both": english_dates.SPELLINGS + japanese_dates.SPELLINGS,
}

COVERING = (
    *(date(1983, 1, 1) + timedelta(number) for number in range(365)),
    *(era.first for era in ERAS),
)
"""Days whose spellings have every character, and the longest of each spelling among them: 1983 has
the Wednesdays of September, and is Shōwa 58, 五十八."""


@dataclass(frozen=True)
class Dates(PairTask):
    """令和3年3月3日 → 2021-03-03. The day is drawn evenly, then its spelling."""

    name: ClassVar[str] = "dates"
    languages: Languages = "both"
    """en, ja or both."""
    first: int = FIRST
    """The first year, from 1873 on: since then Japan has had the same calendar."""
    last: int = LAST
    """The last year, up to 2099."""
    days: int = 1
    """Days in a row, each in a spelling of its own; all must be right."""

    def __post_init__(self) -> None:
        if self.languages not in get_args(Languages):
            raise ConfigurationError(f"languages must be en, ja or both; got {self.languages!r}")
        check_whole("first", self.first, FIRST, LAST)
        check_whole("last", self.last, self.first, LAST, "first is the earliest")
        check_whole("days", self.days, 1, MOST_DAYS)

    @property
    def spellings(self) -> tuple[Callable[[date], str], ...]:
        """Each writes a day in its own way."""
        return SPELLINGS[self.languages]

    @cached_property
    def alphabet(self) -> tuple[str, ...]:
        """All characters of all spellings in any year, and those of the ISO form."""
        texts = (spell(day) for spell in self.spellings for day in COVERING)
        between = BETWEEN + BETWEEN_ISO if self.days > 1 else ""
        return tuple(sorted(set(chain("0123456789-", between, *texts))))

    @cached_property
    def longest(self) -> tuple[int, int]:
        """Characters of the longest spellings, and of the ISO forms: 10 each."""
        spelling = max(len(spell(day)) for spell in self.spellings for day in COVERING)
        gaps = self.days - 1
        return (
            self.days * spelling + gaps * len(BETWEEN),
            self.days * 10 + gaps * len(BETWEEN_ISO),
        )

    @property
    def chance(self) -> float:
        """One over the days there are, for each in a row: no day is likelier than another."""
        return 1 / ((date(self.last, 12, 31) - date(self.first, 1, 1)).days + 1) ** self.days

    def draw(self, rng: np.random.Generator, count: int, part: Part = "train") -> list[Pair]:
        """So many pairs; see `PairTask`."""
        check_part(count, part)
        days, spellings = days_of(self.first, self.last)[part], self.spellings
        chosen = rng.integers(len(days), size=count * self.days).tolist()
        ways = rng.integers(len(spellings), size=count * self.days).tolist()
        written = [
            (spellings[way](days[number]), days[number].isoformat())
            for number, way in zip(chosen, ways, strict=True)
        ]
        rows = [written[n : n + self.days] for n in range(0, len(written), self.days)]
        return [
            (BETWEEN.join(text for text, _ in row), BETWEEN_ISO.join(iso for _, iso in row))
            for row in rows
        ]


@cache
def days_of(first: int, last: int) -> Mapping[Part, Sequence[date]]:
    """The days of each part in some years, in order."""
    days: dict[Part, list[date]] = {"train": [], "test": []}
    begin, end = date(first, 1, 1).toordinal(), date(last, 12, 31).toordinal()
    for day in map(date.fromordinal, range(begin, end + 1)):
        days[part_of(day.isoformat().encode())].append(day)
    return days
