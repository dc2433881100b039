"""Laws of run names: every system takes them, and none is taken twice."""

import unicodedata
from pathlib import Path, PureWindowsPath

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clearformer.training.run_name import default_run_path


@pytest.mark.parametrize(
    ("stem", "name"),
    [
        ("tiny-shakespeare", "tiny-shakespeare"),
        ("My Text (final).v2", "My-Text-final-v2"),
        ("吾輩は猫である", "吾輩は猫である"),
        ("コーヒー_々", "コーヒー_々"),
        ("ｔｅｘｔ１", "text1"),
        ("か\u3099", "が"),
        ("con", "con-run"),
        ("LPT1", "LPT1-run"),
        ("ＣＯＮ", "CON-run"),
        ("com¹", "com1-run"),
        ("a.", "a"),
        ("--help", "help"),
        ("../../etc/passwd", "etc-passwd"),
        ("a:b\\c/d\0e", "a-b-c-d-e"),
        ("", "run"),
        ("...", "run"),
        ("❤️", "run"),
        ("x" * 300, "x" * 64),
    ],
)
def test_names_are_readable_and_safe(tmp_path, stem, name):
    assert default_run_path(stem, tmp_path) == tmp_path / name


@settings(max_examples=100, deadline=None)
@given(st.text())
def test_every_system_takes_every_name(stem):
    name = default_run_path(stem, Path("no such folder")).name
    assert 1 <= len(name) <= 64
    assert len(name.encode("utf-8")) <= 240
    assert all(c in "-_" or unicodedata.category(c)[0] in "LNM" for c in name)
    assert not name.startswith("-")
    assert not name.endswith("-")
    assert PureWindowsPath(name).name == name


def test_a_taken_name_gets_a_number(tmp_path):
    for expected in ("text", "text-2", "text-3"):
        path = default_run_path("text", tmp_path)
        assert path.name == expected
        path.mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "gone")
    assert default_run_path("link", tmp_path).name == "link-2"
    (tmp_path / ("x" * 64)).mkdir()
    assert default_run_path("x" * 70, tmp_path).name == "x" * 62 + "-2"


def test_the_default_place_is_runs():
    assert default_run_path("a text of nobody").parent == Path("runs")


def test_a_name_that_differs_only_in_case_is_taken_too(tmp_path):
    (tmp_path / "Text").mkdir()
    assert default_run_path("text", tmp_path).name == "text-2"
