"""Walks through a tutorial as a reader does, and makes its pictures again.

    python tools/pictures_of_tutorial.py          in a new folder, which is removed
    python tools/pictures_of_tutorial.py FOLDER   in this one, which stays; where a walk has ended
                                                  in it before, only the pictures are drawn

Every block of docs/tutorials/older-ways.md that a test runs is run here in full length, with what
it prints and the time it takes. The pictures that the page shows are then copied to
docs/tutorials/pictures, and those with words in them once more in Japanese. It takes some
minutes on two processors.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "tutorials" / "older-ways.md"
PICTURES = PAGE.parent / "pictures"

BLOCK = re.compile(r"^<!-- run[^\n]* -->\n^```(python|console)\n(.*?)^```$", re.M | re.S)
SHOWN = re.compile(r"\]\(pictures/([^)]+)\.svg\)")
ENDED = "walked"
"""A file that says that a walk has ended."""

WORDS = 'language="en"'
"""What a block says that draws pictures with words."""


def blocks_of(page: Path) -> list[tuple[str, str]]:
    """Language and text of each block that is run, in order."""
    return BLOCK.findall(page.read_text("utf-8"))


def pictures_of(page: Path) -> list[str]:
    """The names of the pictures that a page shows, without their ending."""
    return list(dict.fromkeys(SHOWN.findall(page.read_text("utf-8"))))


def commands_of(language: str, text: str) -> list[list[str]]:
    """What a block runs, each as arguments of Python."""
    if language == "python":
        return [["-c", text]]
    return [["-m", *shlex.split(line[2:])] for line in text.splitlines() if line.startswith("$ ")]


def run(arguments: list[str], folder: Path) -> None:
    """Runs Python in a folder, and says how long it took; raises where it fails."""
    shown = "a program" if arguments[0] == "-c" else shlex.join(arguments[1:])
    print(f"\n== {shown}", flush=True)
    begun, before = time.monotonic(), os.times()
    subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env={
            **os.environ,
            "PYTHONPATH": str(ROOT / "src"),
            "PYTHONUTF8": "1",
            "COLUMNS": "100",
        },
        stdin=subprocess.DEVNULL,
        check=True,
    )
    after = os.times()
    used = sum(after[2:4]) - sum(before[2:4])
    print(f"== {time.monotonic() - begun:.1f} s, {used:.1f} s of processor time", flush=True)


def walk(folder: Path) -> None:
    """Runs the page in a folder, once."""
    if (folder / ENDED).exists():
        return
    for language, text in blocks_of(PAGE):
        for arguments in commands_of(language, text):
            run(arguments, folder)
    (folder / ENDED).touch()


def draw(folder: Path) -> None:
    """Draws the pictures of a walk in both languages, and copies those that are shown."""
    japanese = PAGE.with_suffix(".ja.md")
    drawing = [text for _, text in blocks_of(PAGE) if WORDS in text]
    for text in drawing:
        run(["-c", text], folder)
    PICTURES.mkdir(exist_ok=True)
    for name in pictures_of(PAGE):
        shutil.copy(folder / f"{name}.svg", PICTURES)
    for text in drawing:
        run(["-c", text.replace(WORDS, 'language="ja"')], folder)
    for name in pictures_of(japanese):
        if name.endswith(".ja"):
            drawn = folder / f"{name.removesuffix('.ja')}.svg"
            shutil.copy(drawn, PICTURES / f"{name}.svg")


def main(arguments: list[str]) -> int:
    """Returns the exit status."""
    with TemporaryDirectory() as new:
        folder = Path(arguments[0] if arguments else new)
        folder.mkdir(exist_ok=True)
        walk(folder)
        draw(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
