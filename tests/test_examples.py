"""The examples run, print what they promise, and fit on a screen."""

import ast
import re

import pytest

from documents import ROOT, agrees, run_python

EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
SCREEN = 64  # lines


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_prints_what_its_docstring_promises(example, tmp_path):
    source = example.read_text("utf-8")
    promised = re.search(r"It prints:\n\n(.*)", ast.get_docstring(ast.parse(source)) or "", re.S)
    assert promised, "the docstring ends with 'It prints:' and what that is"
    done = run_python(["-W", "error", str(example)], tmp_path)
    assert done.returncode == 0, done.stdout
    shown = "\n".join(line.strip() for line in promised[1].splitlines())
    printed = "\n".join(line.strip() for line in done.stdout.splitlines())
    assert agrees(shown, printed), done.stdout


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_fits_on_a_screen(example):
    assert len(example.read_text("utf-8").splitlines()) <= SCREEN


def test_there_are_examples():
    assert EXAMPLES
