"""Styled lines on a terminal in colour, elsewhere as plain text."""

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from clearformer.explanation.lines import Line

COLOURS = {
    "plain": "",
    "title": "bold",
    "section": "bold magenta",
    "shape": "magenta",
    "formula": "green",
    "label": "cyan",
    "number": "",
    "strong": "bold yellow",
    "faint": "dim",
    "note": "yellow",
}
"""For each kind of text; never the only sign of anything."""


def show_lines(lines: "Sequence[Line]") -> None:
    """Prints them; where the output lacks a character, such as √ or →, it gets ? instead."""
    from clearformer.explanation.lines import plain

    if sys.stdout is None:  # closed from the start
        return
    if sys.stdout.isatty():
        _show_in_colour(lines)
    else:
        encoding = sys.stdout.encoding or "utf-8"
        click.echo(plain(lines).encode(encoding, "replace").decode(encoding))


def _show_in_colour(lines: "Sequence[Line]") -> None:
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False, soft_wrap=True)
    page = Text()
    for line in lines:
        for segment in line:
            page.append(segment.text, COLOURS[segment.style])
        page.append("\n")
    console.print(page, end="", soft_wrap=True)
