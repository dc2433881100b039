import json

import numpy as np
import pytest

from clearformer.comparison.lesson import measure
from clearformer.comparison.lesson.measure import BACK, lesson
from clearformer.comparison.lesson.table import COLUMNS, MEASURES, ROWS, Lesson
from clearformer.comparison.lesson.words import OWN_WORDS, WRITERS, lines
from clearformer.comparison.report.english import ENGLISH
from clearformer.comparison.report.japanese import JAPANESE
from clearformer.errors import ConfigurationError
from comparison.report.example import example
from comparison.report.example import lesson as example_lesson

NAMES = ("rnn", "lstm", "decoder")


@pytest.fixture
def kinds(monkeypatch):
    """Kinds that the example knows, whichever there are by now."""
    monkeypatch.setattr(measure, "KINDS", dict.fromkeys(NAMES))
    monkeypatch.setattr(measure, "READING", {
        "rnn": ("rnn",), "gated": ("lstm",), "transformer": ("decoder",),
    })  # fmt: skip


def taught(**options):
    """A lesson on comparisons that nobody made, and how they were asked for."""
    asked = []

    def compared(text, *, models, listener, **given):
        asked.append({"text": text, "models": models, **given})
        task = None
        if given.get("task"):
            task = {"name": given["task"], "settings": given["settings"], "chance": 0.125}
        return example(names=tuple(models), task=task)

    return lesson("a text", compared=compared, **options), asked


def test_every_cell_has_a_measured_figure(kinds):
    found, _ = taught()
    assert set(found.cells) == {"rnn", "gated", "transformer"}
    for row in found.cells.values():
        assert set(row) == set(COLUMNS)
        for figures in row.values():
            assert figures
            assert all(each.value is not None and each.measure in MEASURES for each in figures)


def test_figures_are_those_of_the_comparisons(kinds):
    found, _ = taught(distances=(16, 64))
    read = example(names=NAMES)
    row = found.cells["gated"]
    assert row["predicts"][0].value == read.summary["lstm"]["bits_per_character"]["mean"]
    assert row["speed"][0].value == read.summary["lstm"]["tokens_per_second"]["mean"]
    assert [each.at for each in row["remembers"]] == [16, 64]
    assert row["reaches"][0].value == pytest.approx(0.5 ** (BACK - 1))
    assert row["costs"][0].value == 1.0


def test_models_have_the_same_time_on_a_task_and_together_less_than_the_minutes(kinds):
    found, asked = taught(minutes=10, seeds=2)
    seconds = [each["budget"]["seconds"] for each in asked]
    spent = [
        len(each["models"]) * (0.6 + 2) * time for each, time in zip(asked, seconds, strict=True)
    ]
    assert 200 < sum(spent) < 600
    assert list(found.seconds.values()) == seconds
    assert found.seeds == 2


def test_reasons_are_measured_once(kinds):
    _, asked = taught()
    assert [each["why"] for each in asked] == [True, False, False, False]


def test_a_lesson_keeps_each_comparison_in_a_place_of_its_own(kinds, tmp_path):
    _, asked = taught(folder=tmp_path)
    places = [each["folder"].name for each in asked]
    assert places == ["text", "recall-16", "recall-64", "recall-256"]


def test_it_comes_back_from_json():
    found = example_lesson()
    assert Lesson.from_json(json.loads(json.dumps(found.to_json()))) == found


@pytest.mark.parametrize("words", [ENGLISH, JAPANESE])
def test_the_terminal_has_every_figure_and_how_it_was_measured(words):
    written = "\n".join(lines(example_lesson(), words))
    for row in ("rnn", "gated", "transformer"):
        assert words[f"claim_{row}"] in written
    assert all(f"{words[f'how_{each}'].split('{')[0]}" in written for each in COLUMNS)
    assert "1.2·10⁻⁷" in written or "1.3·10⁻⁷" in written
    assert "20,486" in written and "2.600 (2.500 … 2.700)" in written


def test_every_row_column_and_measure_has_words():
    assert {f"claim_{row}" for row in ROWS} | {f"lesson_{row}" for row in ROWS} <= ENGLISH.keys()
    assert {f"column_{each}" for each in COLUMNS} <= ENGLISH.keys()
    assert {f"figure_{each}" for each in OWN_WORDS} <= ENGLISH.keys()
    assert WRITERS.keys() == set(MEASURES)


@pytest.mark.parametrize("minutes", [0, -1, float("nan"), True, "ten"])
def test_minutes_that_cannot_be_are_refused(minutes):
    with pytest.raises(ConfigurationError, match="minutes must be a number above 0"):
        lesson(minutes=minutes)


def test_a_source_that_is_handed_over_has_the_rows_of_the_table():
    from clearformer.comparison.lesson.pairs import Handed

    table = np.arange(6.0).reshape(3, 2)
    source, vectors = np.array([[0, 1]]), np.ones((1, 2, 2))
    handed = Handed(table, source, vectors)
    assert handed(source) is vectors
    assert (handed(np.array([[0, 1]])) == table[[0, 1]]).all()
