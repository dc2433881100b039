"""The tutorial of the whole Transformer: its path can be walked, and its examples come out.

That the model at its end writes what the library writes is run with the pages, in test_docs.
"""

import doctest
import importlib
import sys

import numpy as np
import pytest

import clearformer as cf
from clearformer.checking.catalogue import NAMES, find
from clearformer.checking.path import PATH
from clearformer.checking.starter import starter
from documents import ROOT, blocks_of

PARTS = sorted((ROOT / "docs" / "tutorials" / "build-a-transformer").glob("[0-9]*[a-z].md"))
ENGLISH = [page for page in PARTS if not page.name.endswith(".ja.md")]
ANSWERS = ROOT / "tests" / "tutorial" / "answers"
VARIANTS = {"feed_forward": "gelu-variant"}
"""What the tutorial asks for in another form than the exercise."""


def filled(name: str, language: str = "en") -> str:
    """The starter file with the kept answer in the place of the empty function."""
    answer = (ANSWERS / f"{name}.py").read_text("utf-8")
    head, line, _ = starter(find(name), language).partition(f"def {find(name).signature}:\n")
    assert line in answer
    return f"{head}{answer}"


@pytest.fixture(scope="module")
def functions(tmp_path_factory):
    """The functions of the filled starter files, by name; they import from each other."""
    folder = tmp_path_factory.mktemp("path")
    for number, name in enumerate(PATH):
        (folder / f"{name}.py").write_text(filled(name, ("en", "ja")[number % 2]), "utf-8")
    sys.path.insert(0, str(folder))
    try:
        yield {name: getattr(importlib.import_module(name), name) for name in PATH}
    finally:
        sys.path.remove(str(folder))
        for name in PATH:
            sys.modules.pop(name, None)


def test_there_is_an_answer_to_each_exercise_of_the_path_and_to_no_other():
    assert {path.stem for path in ANSWERS.iterdir() if path.suffix == ".py"} == set(PATH)
    assert set(PATH) <= set(NAMES)


def test_the_pages_tell_how_to_begin_and_how_to_judge_each_exercise_in_order():
    told = [
        line
        for page in ENGLISH
        for block in blocks_of(page)
        if block.language == "sh"
        for line in block.body.splitlines()
        if line.startswith("clearformer check ")
    ]
    assert told == [
        line
        for name in PATH
        for line in (
            f"clearformer check {name} --start {name}.py",
            f"clearformer check {name} {name}.py",
        )
    ]


@pytest.mark.parametrize("name", PATH)
def test_a_starter_file_with_the_answer_filled_in_is_right(functions, name):
    found = cf.check(functions[name], name)
    assert found.is_right, found.message
    variant = found.judged.variant
    assert (variant.key if variant else None) == VARIANTS.get(name)


@pytest.mark.parametrize("page", ENGLISH, ids=lambda page: page.stem)
def test_the_examples_to_try_by_hand_come_out(functions, page):
    text = "".join(f"{block.body}\n" for block in blocks_of(page) if block.language == "pycon")
    names = {"np": np, **functions}
    examples = doctest.DocTestParser().get_doctest(text, names, page.name, str(page), 0)
    assert len(examples.examples) >= len([b for b in blocks_of(page) if b.language == "pycon"]) > 0
    heard: list[str] = []
    failed = doctest.DocTestRunner(verbose=False).run(examples, out=heard.append).failed
    assert failed == 0, "".join(heard)
