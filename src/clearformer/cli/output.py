"""What commands print: one JSON document, or words for a person."""

import json
import os
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import click

from clearformer.engines.execution import ENGINES


def show_json(document: Mapping[str, Any]) -> None:
    """Prints exactly one strict JSON document to standard output."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    wide = encoding.lower().startswith("utf")
    written = json.dumps(document, ensure_ascii=not wide, allow_nan=False)
    click.echo("".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in written))


NOTE = "note: "


def on_terminal() -> bool:
    """Whether standard error is a terminal; None stands where it was closed from the start."""
    return sys.stderr is not None and sys.stderr.isatty()


class PassingLine:
    """The line of the terminal that says what goes on; it makes room for whatever comes next."""

    def __init__(self) -> None:
        self._is_shown = False

    def show(self, line: str) -> None:
        """Shows it in place of the last one; nothing where there is no terminal."""
        if on_terminal():
            self.wipe()
            self._write(line)
            self._is_shown = True

    def wipe(self) -> None:
        """Leaves nothing of it."""
        if self._is_shown:
            self._write("\r\x1b[K")
            self._is_shown = False

    @contextmanager
    def during(self, doing: str) -> Iterator[None]:
        """Says what goes on until it is done."""
        self.show(f"{doing} …")
        try:
            yield
        finally:
            self.wipe()

    def _write(self, text: str) -> None:
        with suppress(OSError):  # a terminal that was closed; the work goes on
            click.echo(text, err=True, nl=False)


PASSING = PassingLine()
"""The only one, as there is one terminal."""


def require_place(flag: str, file: Path) -> None:
    """Refuses at once a picture for which there is no place.

    Raises:
        UsageError: it is a folder, or its folder is missing.
    """
    if file.is_dir() or not file.parent.is_dir():
        raise click.UsageError(f"{flag} expects a file in a folder that is there; got {file}")


def tell(line: str) -> None:
    """Prints a line to standard error; that nobody can read it must never cost the work itself."""
    PASSING.wipe()
    with suppress(OSError):  # a full disk, or a reader that is gone
        click.echo(line, err=True)


def note_of(text: str) -> str:
    """A note as it is shown: in a terminal broken at spaces, and indented."""
    lines = in_terminal(printable(text), indent=len(NOTE))
    return NOTE + f"\n{' ' * len(NOTE)}".join(lines)


def in_terminal(text: str, indent: int) -> list[str]:
    """The lines of `text`; in a terminal those that are too long behind an indent are broken."""
    if not on_terminal():
        return text.splitlines()
    from clearformer.explanation.lines import cell_width, wrapped

    columns = max(_columns() - indent, indent)
    return [
        part
        for line in text.splitlines()
        for part in (wrapped(line, columns) if cell_width(line) > columns else [line])
    ]


def _columns() -> int:
    """Of the terminal; 80 where it does not say."""
    try:
        return os.get_terminal_size(sys.stderr.fileno()).columns or 80
    except (OSError, ValueError):
        return shutil.get_terminal_size().columns


def perplexity_in_words(perplexity: float) -> str:
    """With its commas, or as a power of ten where there would be too many of them."""
    return f"{perplexity:,.1f}" if perplexity < 1e9 else f"{perplexity:.1e}"


def printable(text: str) -> str:
    """`text` with control characters made visible, so that no text can steer the terminal."""
    return "".join(
        c if c in "\n\t" or c.isprintable() or c == "\u3000" else _visible(c) for c in text
    )


def _visible(character: str) -> str:
    code = ord(character)
    return (
        f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}" if code < 65536 else f"\\U{code:08x}"
    )


def machine_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds the flags that choose where a trained model computes."""
    command = click.option(
        "--device", metavar="cpu|cuda|mps", help="Of PyTorch.  [default: the best there is]"
    )(command)
    return click.option(
        "--engine",
        type=click.Choice(ENGINES),
        default="numpy",
        show_default=True,
        help="What does the arithmetic, whichever trained it.",
    )(command)


json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print the result as one JSON document."
)
