"""The tutorial on the older ways: its text, its pictures, and the tool that makes them."""

import sys
from xml.etree import ElementTree

import pytest

from clearformer.comparison.report.alone import pictures_of
from clearformer.text.corpus import default_corpus
from comparison.report.example import example
from documents import ROOT, blocks_of, is_run, run_python

TUTORIALS = ROOT / "docs" / "tutorials"
ENGLISH, JAPANESE = TUTORIALS / "older-ways.md", TUTORIALS / "older-ways.ja.md"
PICTURES = sorted((TUTORIALS / "pictures").iterdir())

LARGEST = 100_000
"""Bytes of a picture."""


@pytest.fixture(scope="module")
def tool():
    sys.path.insert(0, str(ROOT / "tools"))
    try:
        import pictures_of_tutorial
    finally:
        sys.path.remove(str(ROOT / "tools"))
    return pictures_of_tutorial


def test_the_first_block_writes_the_text_that_stands_in_where_none_is_given(tmp_path):
    done = run_python(["-c", blocks_of(ENGLISH)[0].body], tmp_path)
    assert done.returncode == 0, done.stdout
    assert (tmp_path / "my-text.txt").read_text("utf-8") == default_corpus().text


def test_every_picture_is_shown(tool):
    shown = {*tool.pictures_of(ENGLISH), *tool.pictures_of(JAPANESE)}
    assert {picture.name for picture in PICTURES} == {f"{name}.svg" for name in shown}


@pytest.mark.parametrize("picture", PICTURES, ids=lambda path: path.stem)
def test_a_picture_is_a_small_svg_that_says_what_it_is_and_runs_nothing(picture):
    assert picture.stat().st_size < LARGEST
    root = ElementTree.parse(picture).getroot()
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert root.findtext("{http://www.w3.org/2000/svg}title")
    assert not [each for each in root.iter() if each.tag.endswith(("script", "image", "use"))]


def test_each_picture_is_drawn_by_a_block_of_the_page(tool):
    run = "".join(block.body for block in filter(is_run, blocks_of(ENGLISH)))
    of_a_report = pictures_of(example())
    for name in tool.pictures_of(ENGLISH):
        assert f"{name}.svg" in run or name in of_a_report, name
    for name in tool.pictures_of(JAPANESE):
        assert name.removesuffix(".ja") in tool.pictures_of(ENGLISH)


def test_the_tool_runs_what_the_tests_run(tool):
    tested = [(block.language, block.body) for block in filter(is_run, blocks_of(ENGLISH))]
    assert tool.blocks_of(ENGLISH) == tested
    assert sum(tool.WORDS in body for _, body in tested) == 2
