"""The page that plans a cluster: every figure it calls computed is what the code computes."""

import re

import pytest

from documents import ROOT, agrees, blocks_of, run_python

PAGE = ROOT / "docs" / "how-to" / "from-one-machine-to-a-cluster.md"
EXAMPLE = ROOT / "examples" / "plan_a_cluster.py"

PROGRAMS = [block for block in blocks_of(PAGE) if block.language == "python"]

ITALIC = re.compile(r"(?<!\*)\*(\d[\d.,]*)\*(?!\*)")
NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")


@pytest.fixture(scope="module")
def plans(tmp_path_factory):
    """What the example prints."""
    done = run_python([str(EXAMPLE)], tmp_path_factory.mktemp("plans"))
    assert done.returncode == 0, done.stdout
    return done.stdout


def promised(program: str) -> list[str]:
    """The comments that say what is printed: behind a `print`, or alone after a line of code."""
    found, before = [], ""
    for line in program.splitlines():
        code, mark, comment = line.partition("  # ")
        if line.startswith("# ") and before:
            found.append(line[2:])
        elif mark and code.startswith("print("):
            found.append(comment.strip())
        before = line.strip()
    return found


@pytest.mark.parametrize("block", PROGRAMS, ids=str)
def test_a_program_prints_what_its_comments_say(block, tmp_path):
    done = run_python(["-W", "error", "-c", block.body], tmp_path)
    assert done.returncode == 0, done.stdout
    assert done.stdout.splitlines() == promised(block.body)


def test_the_plans_are_those_of_the_example(plans):
    (shown,) = (block.body for block in blocks_of(PAGE) if block.language == "text")
    assert agrees(shown, plans), plans


def test_every_figure_in_italics_is_printed_by_a_program_of_the_page(plans):
    printed = plans + "\n".join(line for block in PROGRAMS for line in promised(block.body))
    figures = set(NUMBER.findall(printed))
    missing = [
        figure for figure in ITALIC.findall(PAGE.read_text("utf-8")) if figure not in figures
    ]
    assert len(ITALIC.findall(PAGE.read_text("utf-8"))) > 10
    assert missing == []
