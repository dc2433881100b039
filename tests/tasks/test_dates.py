"""Laws of dates: every spelling can be read in one way, and an unseen day is never seen."""

from datetime import date, timedelta

import numpy as np
import pytest

from clearformer.errors import ConfigurationError
from clearformer.tasks.dates import FIRST, SPELLINGS, Dates, days_of
from clearformer.tasks.dates import LAST as LAST_YEAR
from clearformer.tasks.eras import era_of, in_kanji
from clearformer.tasks.japanese_dates import of_era, of_era_in_kanji, short_era
from tasks.reading_dates import read

LAST = date(2099, 12, 31)

BOUNDARIES = {
    date(1873, 1, 1): "明治6年1月1日",
    date(1912, 7, 29): "明治45年7月29日",
    date(1912, 7, 30): "大正元年7月30日",
    date(1913, 1, 1): "大正2年1月1日",
    date(1926, 12, 24): "大正15年12月24日",
    date(1926, 12, 25): "昭和元年12月25日",
    date(1989, 1, 7): "昭和64年1月7日",
    date(1989, 1, 8): "平成元年1月8日",
    date(2019, 4, 30): "平成31年4月30日",
    date(2019, 5, 1): "令和元年5月1日",
    date(2021, 3, 3): "令和3年3月3日",
    LAST: "令和81年12月31日",
}

DAYS = [
    *BOUNDARIES,
    *(date(1873, 1, 1) + timedelta(days=41 * n) for n in range((LAST.toordinal() - 683733) // 41)),
    *(date(2024, 1, 1) + timedelta(days=n) for n in range(366)),
]


@pytest.mark.parametrize("number", range(len(SPELLINGS["both"])))
def test_every_spelling_means_the_day_it_was_made_of(number):
    """Read by the text alone; so no two days are written alike, in whichever spelling."""
    spell = SPELLINGS["both"][number]
    for day in DAYS:
        assert read(spell(day)) == day, spell(day)


@pytest.mark.parametrize("day", BOUNDARIES, ids=str)
def test_an_era_begins_on_its_day(day):
    assert of_era(day) == BOUNDARIES[day]


def test_kanji_and_short_forms():
    assert of_era_in_kanji(date(2021, 3, 3)) == "令和三年三月三日"
    assert of_era_in_kanji(date(1983, 12, 28)) == "昭和五十八年十二月二十八日"
    assert short_era(date(2021, 3, 3)) == "R3.3.3"
    assert [in_kanji(n) for n in (1, 9, 10, 11, 20, 31, 99)] == [
        "一", "九", "十", "十一", "二十", "三十一", "九十九",
    ]  # fmt: skip


def test_the_spellings_that_people_use_are_among_them():
    texts = {spell(date(2021, 3, 3)) for spell in SPELLINGS["both"]}
    assert texts >= {
        "3 March 2021", "Mar 3rd, 2021", "March 3, 2021", "03/03/2021", "2021.3.3",
        "Wednesday 3 March 2021", "3rd of March 2021", "2021年3月3日", "令和3年3月3日",
        "令和三年三月三日", "R3.3.3", "西暦2021年3月3日", "２０２１年３月３日", "2021年3月3日(水)",
        "㋿3年3月3日",
    }  # fmt: skip
    assert len({spell(date(1987, 9, 4)) for spell in SPELLINGS["en"]}) == len(SPELLINGS["en"])
    assert len({spell(date(1989, 1, 8)) for spell in SPELLINGS["ja"]}) == len(SPELLINGS["ja"])


def test_the_years_of_eras_follow_from_those_of_christ_on_every_day():
    begins = {"明治": 1868, "大正": 1912, "昭和": 1926, "平成": 1989, "令和": 2019}
    before = "明治"
    for number in range(date(1873, 1, 1).toordinal(), LAST.toordinal() + 1):
        day = date.fromordinal(number)
        era, year = era_of(day)
        assert day.year == begins[era.name] + year - 1
        if era.name != before:
            assert BOUNDARIES[day].startswith(era.name + "元年")
            before = era.name


@pytest.mark.parametrize("languages", ["en", "ja", "both"])
@pytest.mark.parametrize("part", ["train", "test"])
def test_every_answer_is_right_and_its_text_as_promised(languages, part, rng):
    task = Dates(languages)
    for source, target in task.draw(rng, 3000, part):
        assert read(source).isoformat() == target
        assert "1873-01-01" <= target <= "2099-12-31"
        assert set(source + target) <= set(task.alphabet)
        assert len(source) <= task.longest[0]
        assert len(target) == task.longest[1]


@pytest.mark.parametrize("languages", ["en", "ja", "both"])
def test_the_alphabet_and_the_longest_text_are_those_of_all_days(languages):
    task = Dates(languages)
    texts = [spell(day) for spell in task.spellings for day in DAYS]
    assert {*"".join(texts), *"0123456789-"} == set(task.alphabet)
    assert max(map(len, texts)) == task.longest[0]
    assert list(task.alphabet) == sorted(task.alphabet)


def test_a_day_that_is_held_out_is_never_seen_in_any_spelling_or_language(rng):
    seen = {target for _, target in Dates("both", 2000, 2020).draw(rng, 100_000, "train")}
    for languages in ("en", "ja"):
        for years in ((2000, 2020), (1873, 2099), (2010, 2011)):
            unseen = {target for _, target in Dates(languages, *years).draw(rng, 3000, "test")}
            assert len(unseen) > 50
            assert not unseen & seen
    assert len(seen) > 6500, "nearly all the others are"


def test_whole_years_and_nothing_else_are_drawn(rng):
    task = Dates("ja", 2024, 2024)
    days = {target for part in ("train", "test") for _, target in task.draw(rng, 9000, part)}
    assert len(days) == 366
    assert min(days) == "2024-01-01"
    assert max(days) == "2024-12-31"
    assert task.chance == 1 / 366


def test_the_same_guess_is_right_by_chance(rng):
    task = Dates("en", 2001, 2001)
    pairs = task.draw(rng, 60_000) + task.draw(rng, 60_000 // 7, "test")
    share = sum(target == "2001-09-09" for _, target in pairs) / len(pairs)
    assert share == pytest.approx(task.chance, rel=0.3)


def test_every_spelling_is_drawn(rng):
    task = Dates("both", 1987, 1987)
    drawn = {source for source, _ in task.draw(rng, 60_000)}
    days = {target for _, target in task.draw(rng, 5000)}
    ways = {spell(date.fromisoformat(day)) for day in days for spell in task.spellings}
    assert len(drawn & ways) > 0.9 * len(ways)


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"languages": "fr"}, "languages must be en, ja or both; got 'fr'"),
        ({"first": 1872}, "first must be a whole number from 1873 to 2,099; got 1872"),
        ({"last": 2100}, "last must be"),
        ({"first": 2000, "last": 1999}, "last must be a whole number from 2000"),
    ],
)
def test_what_cannot_be_is_refused(settings, told):
    with pytest.raises(ConfigurationError, match=told):
        Dates(**settings)


def test_several_days_in_a_row_are_each_as_one_would_be():
    task = Dates(days=3)
    once = Dates()
    assert set(task.alphabet) == {*once.alphabet, ";", " "}
    assert task.longest == (3 * once.longest[0] + 4, 32)
    assert task.chance == pytest.approx(once.chance**3)
    for part in ("train", "test"):
        known = set(days_of(FIRST, LAST_YEAR)[part])
        for source, target in task.draw(np.random.default_rng(3), 50, part):
            days = [read(spelling) for spelling in source.split("; ")]
            assert len(days) == 3 and set(days) <= known
            assert target == " ".join(day.isoformat() for day in days)
            assert len(source) <= task.longest[0]


def test_a_single_day_is_drawn_as_it_always_was():
    (source, target), *_ = Dates().draw(np.random.default_rng(0), 5)
    assert read(source).isoformat() == target
    assert ";" not in Dates().alphabet


@pytest.mark.parametrize("days", [0, -1, 101, 1.0, "2"])
def test_days_that_cannot_be_are_refused(days):
    with pytest.raises(ConfigurationError, match="days"):
        Dates(days=days)
