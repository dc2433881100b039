"""Fenced blocks of the documentation, and a way to run those that are marked to be run.

A comment on the line before a block says what a test does with it:

    <!-- run -->                      run it; what it prints must be as shown
    <!-- run, output differs -->      run it; what it prints differs from time to time
    <!-- run with --steps 20 -->      the same, with these flags added to make it short
    <!-- run, exit status 2 -->       run it; it must end with this status
    <!-- run, saved as model.py -->   run it as this file, which later blocks can import

`<!-- needs PyTorch -->` on a page skips it where PyTorch is not installed.
Blocks of a page run in order in one folder, which holds `my-text.txt`, and also `runs/my-text`
where the page says `<!-- begins with runs/my-text -->`, and answers to the exercises where it says
`<!-- begins with the answers of the tutorial -->`. A `…` in what is shown stands for anything.
Pages in Japanese (PAGE.ja.md) mark none: a test holds their blocks equal to those of PAGE.md.
"""

import doctest
import os
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import clearformer

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])

BEGINS_WITH_RUN = "<!-- begins with runs/my-text -->"
BEGINS_WITH_ANSWERS = "<!-- begins with the answers of the tutorial -->"
NEEDS_TORCH = "<!-- needs PyTorch -->"

_BLOCK = re.compile(
    r"(?:^<!-- (?P<marker>[^\n]*) -->\n)?^```(?P<language>\w+)\n(?P<body>.*?)^```$", re.M | re.S
)
_RUN = re.compile(
    r"run(?:, exit status (?P<status>\d+))?(?:, saved as (?P<file>\w+\.py))?"
    r"(?P<differs>, output differs)?(?: with (?P<flags>.*))?"
)


@dataclass(frozen=True)
class Block:
    """One fenced block."""

    page: Path
    line: int
    language: str
    marker: str
    body: str

    def __str__(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"


def blocks_of(page: Path) -> list[Block]:
    """All fenced blocks of a page that name a language, in order."""
    text = page.read_text("utf-8")
    return [
        Block(
            page,
            text.count("\n", 0, at.start()) + 1,
            at["language"],
            at["marker"] or "",
            at["body"],
        )
        for at in _BLOCK.finditer(text)
    ]


def is_run(block: Block) -> bool:
    """Whether the block is marked to be run."""
    return block.marker.split(",")[0].split(" ")[0] == "run"


def run_block(block: Block, folder: Path) -> None:
    """Runs a block in `folder` and raises unless it ends and prints as the page says."""
    how = _RUN.fullmatch(block.marker)
    if how is None:
        raise AssertionError(f"{block}: no such marker: {block.marker}")
    status, flags = int(how["status"] or 0), shlex.split(how["flags"] or "")
    compares = not (how["differs"] or flags)
    if block.language == "python":
        if how["file"]:
            (folder / how["file"]).write_text(block.body, "utf-8")
        done = run_python([how["file"]] if how["file"] else ["-c", block.body], folder)
        _require(block, done, status, "")
        return
    if block.language != "console":
        raise AssertionError(f"{block}: only console and python blocks can be run")
    for command, shown in commands_of(block):
        words = shlex.split(command)
        if words[0] != "clearformer":
            raise AssertionError(f"{block}: expected a clearformer command, got {command}")
        done = run_python(["-m", *words, *flags], folder)
        _require(block, done, status, shown if compares else "")


def commands_of(block: Block) -> list[tuple[str, str]]:
    """The commands of a console block, each with what is shown to follow it."""
    found: list[tuple[str, str]] = []
    for line in block.body.splitlines():
        if line.startswith("$ "):
            found.append((line[2:], ""))
        elif found:
            command, shown = found[-1]
            found[-1] = command, f"{shown}{line}\n"
    return found


def run_python(arguments: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """Runs this Python in `folder`, with this clearformer; both outputs end in `stdout`."""
    package = str(Path(clearformer.__file__).resolve().parent.parent)
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": package, "PYTHONUTF8": "1", "COLUMNS": "100"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )


def _require(block: Block, done: subprocess.CompletedProcess[str], status: int, shown: str) -> None:
    if done.returncode != status:
        raise AssertionError(
            f"{block}: expected exit status {status}, got {done.returncode}:\n{done.stdout}"
        )
    if shown.strip() and not agrees(shown, done.stdout):
        raise AssertionError(f"{block} shows\n{shown}\nbut this was printed:\n{done.stdout}")


def agrees(shown: str, printed: str) -> bool:
    """Whether `printed` is as shown, up to blanks at line ends and what a `…` stands for."""
    wanted, got = (
        "\n".join(line.rstrip() for line in text.strip().splitlines()) for text in (shown, printed)
    )
    wanted = wanted.replace("...", "\0").replace("…", "...")  # only … is special
    return doctest.OutputChecker().check_output(wanted, got.replace("...", "\0"), doctest.ELLIPSIS)
