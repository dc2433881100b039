"""The growth of time and memory: measured beside the machine's limits, told, drawn."""

import json
from importlib import import_module
from pathlib import Path
from xml.etree import ElementTree

import pytest

FOLDER = Path(__file__).resolve().parent.parent / "benchmarks"
PAGE = FOLDER.parent / "docs" / "explanation" / "growth.md"


@pytest.fixture
def growth(monkeypatch):
    """The script, with turns that take no time."""
    monkeypatch.syspath_prepend(str(FOLDER))
    found = import_module("growth")
    for name, value in {"TURN": 0.0, "TURNS": 1, "LARGE": 64, "READ": 1 << 12}.items():
        monkeypatch.setattr(found, name, value)
    monkeypatch.setattr(found, "SMALL", {"layers": 1, "heads": 1, "embed": 16, "context": 8})
    return found


def test_a_part_has_its_points_exponents_and_the_limits_of_the_machine(growth):
    found = growth.measured("depth", lambda: growth.steps("layers", (1, 2, 4)), threads=1)
    assert [point["x"] for point in found["points"]] == [1, 2, 4]
    assert found["peak"] > 0
    exponent, low, high = found["exponent_of_bytes"]
    assert low <= exponent <= high
    flops = [point["flops"] for point in found["points"]]
    assert flops[2] - flops[1] == 2 * (flops[1] - flops[0])
    assert all(growth.share(found, point) > 0 for point in found["points"])
    lines = list(growth.told("depth", found))
    assert lines[2].startswith("| 1 | ")
    assert lines[-1].startswith("Exponent of time ")


def test_a_part_goes_no_further_than_memory_and_patience(growth, monkeypatch):
    monkeypatch.setattr(growth, "LONGEST_TURN", 0.0)
    assert len(list(growth.steps("layers", (1, 2, 4)))) == 1
    monkeypatch.setattr(growth, "LONGEST_TURN", 9.0)
    monkeypatch.setattr(growth, "MEMORY_SHARE", 0.0)
    assert len(list(growth.attention_alone((8, 16)))) == 1


def test_a_token_further_on_reads_more(growth):
    points = list(growth.writing_on((128, 256)))
    assert [point["x"] for point in points] == [128, 256]
    assert points[1]["read"] - points[0]["read"] == 2 * 4 * 1 * 16 * 128
    part = {"bandwidth": 1e9, "points": points}
    assert all(growth.share(part, point) > 0 for point in points)


def test_the_tables_of_the_page_are_those_of_the_record(growth):
    page = PAGE.read_text("utf-8")
    record = json.loads(growth.RECORD.read_text("utf-8"))
    assert growth.with_tables(page, record) == page
    assert page.count("\nExponent of ") == len(record)


def test_every_recorded_part_is_drawn_and_on_the_page(growth):
    record = json.loads(growth.RECORD.read_text("utf-8"))
    assert record.keys() == growth.parts(1).keys()
    for name, (_, _, _, of) in growth.SHOWN.items():
        picture = growth.PICTURES / f"growth-{name}.svg"
        drawn = picture.read_text("utf-8")
        root = ElementTree.fromstring(drawn)
        assert root.findtext("{http://www.w3.org/2000/svg}title")
        assert "<script" not in drawn
        assert all(part.removeprefix("writing-") in drawn for part in of)
        assert f"pictures/{picture.name}" in PAGE.read_text("utf-8")
