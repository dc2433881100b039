"""The documentation: what it shows runs, what it lists is complete, what it links to is there."""

import inspect
import re
import shutil
from importlib import import_module
from pathlib import Path

import click
import pytest

import clearformer as cf
from clearformer import errors
from clearformer.cli.main import COMMANDS
from clearformer.models.kinds import KINDS
from documents import (
    BEGINS_WITH_ANSWERS,
    BEGINS_WITH_RUN,
    NEEDS_TORCH,
    PAGES,
    ROOT,
    agrees,
    blocks_of,
    is_run,
    run_block,
)

LINES = """The kettle hums and the rain taps on the roof of the small house by the river.
A cat sleeps on the warm stone, and the old clock counts the quiet minutes.
When the rain stops, the garden smells of mint, and someone opens the window.
"""

JA = ".ja.md"
JAPANESE = [page for page in PAGES if page.name.endswith(JA)]

ANSWERS = ROOT / "tests" / "tutorial" / "answers"
REFERENCE = ROOT / "docs" / "reference"


@pytest.fixture(scope="session")
def small_run(tmp_path_factory):
    """A run that has learned a little, trained once for all pages."""
    folder = tmp_path_factory.mktemp("small")
    text = folder / "my-text.txt"
    text.write_text(LINES * 60, "utf-8")
    cf.train(text, out=folder / "run", size="tiny", steps=20)
    return folder / "run"


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize(
    "page", [page for page in PAGES if any(map(is_run, blocks_of(page)))], ids=name_of
)
def test_what_a_page_shows_runs(page, tmp_path, request):
    if NEEDS_TORCH in page.read_text("utf-8"):
        pytest.importorskip("torch", reason="the page is about PyTorch (extra torch)")
    (tmp_path / "my-text.txt").write_text(LINES * 60, "utf-8")
    if BEGINS_WITH_RUN in page.read_text("utf-8"):
        shutil.copytree(request.getfixturevalue("small_run"), tmp_path / "runs" / "my-text")
    if BEGINS_WITH_ANSWERS in page.read_text("utf-8"):
        shutil.copytree(ANSWERS, tmp_path, dirs_exist_ok=True)
    for block in filter(is_run, blocks_of(page)):
        run_block(block, tmp_path)


def test_comparing_output_notices_a_difference():
    assert agrees("loss 1.5\n…\nend", "loss 1.5\nmany\nlines\nend\n")
    assert not agrees("loss 1.5", "loss 1.6")
    assert not agrees("waiting...", "waiting for long")


@pytest.mark.parametrize("page", JAPANESE, ids=name_of)
def test_both_languages_show_the_same_blocks(page):
    english = page.with_name(page.name.replace(JA, ".md"))
    japanese, original = (
        [(block.language, block.body) for block in blocks_of(each)] for each in (page, english)
    )
    assert japanese == original
    assert not any(map(is_run, blocks_of(page)))  # once is enough


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_link_to_a_file_leads_somewhere(page):
    for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text("utf-8")):
        if "://" not in target:
            assert (page.parent / target).exists(), f"{name_of(page)} links to {target}"


def test_every_page_of_the_docs_is_reached_from_the_index():
    reached, waiting = set(), [ROOT / "docs" / "index.md"]
    while waiting:
        page = waiting.pop()
        if page in reached or page.suffix != ".md" or not page.exists():
            continue
        reached.add(page)
        links = re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text("utf-8"))
        waiting += [(page.parent / link).resolve() for link in links if "://" not in link]
    assert {page for page in PAGES if "docs" in page.relative_to(ROOT).parts} <= reached


def test_the_reference_lists_every_command_and_flag():
    text = (REFERENCE / "commands.md").read_text("utf-8")
    missing = [
        f"{name} {flag}"
        for name in COMMANDS
        for option in command_called(name).params
        if isinstance(option, click.Option)
        for flag in option.opts
        if f"`{flag}" not in section(text, name)
    ]
    assert missing == []


def test_the_reference_lists_all_that_train_gives_as_json(tmp_path):
    given = cf.train(LINES * 60, out=tmp_path / "run", size="tiny", steps=1).summary
    text = section((REFERENCE / "commands.md").read_text("utf-8"), "train")
    (row,) = re.findall(r"^\| `--json` \| \| `(.*?)`", text, re.M)
    assert row.split(", ") == list(given)


def test_the_reference_names_every_kind_of_model():
    text = section((REFERENCE / "commands.md").read_text("utf-8"), "train")
    (row,) = re.findall(r"^\| `--model` .*$", text, re.M)
    assert [kind for kind in KINDS if f"`{kind}`" not in row] == []


def command_called(name: str) -> click.Command:
    command: click.Command = getattr(import_module(f"clearformer.cli.{name}"), name)
    return command


def section(text: str, name: str) -> str:
    """What stands under the heading of a command."""
    found = re.search(rf"^## `clearformer {name}.*?(?=^## |\Z)", text, re.M | re.S)
    assert found, f"no heading for {name}"
    return found[0]


def test_the_reference_lists_every_public_name():
    text = (REFERENCE / "python.md").read_text("utf-8")
    assert [
        name for name in cf.__all__ if f"`{name}" not in text and f"cf.{name}" not in text
    ] == []


def test_the_reference_lists_every_error():
    text = (REFERENCE / "errors.md").read_text("utf-8")
    classes = [name for name, found in vars(errors).items() if inspect.isclass(found)]
    assert [name for name in classes if f"`{name}`" not in text] == []


def test_the_decisions_are_numbered_without_gaps_and_have_every_part():
    pages = sorted((ROOT / "docs" / "decisions").glob("[0-9]*.md"))
    assert [int(page.name[:4]) for page in pages] == list(range(1, len(pages) + 1))
    for page in pages:
        text = page.read_text("utf-8")
        for part in ("## Context", "## Decision", "## Consequences", "## Alternatives"):
            assert part in text, f"{page.name} lacks {part}"
