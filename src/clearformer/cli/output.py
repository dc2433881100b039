"""What commands print: one JSON document, or words for a person."""

import json
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

import click

from clearformer.engines.execution import ENGINES


def show_json(document: Mapping[str, Any]) -> None:
    """Prints exactly one strict JSON document to standard output."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    wide = encoding.lower().startswith("utf")
    written = json.dumps(document, ensure_ascii=not wide, allow_nan=False)
    click.echo("".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in written))


def tell(line: str) -> None:
    """Prints a line to standard error; that nobody can read it must never cost the work itself."""
    with suppress(OSError):  # a full disk, or a reader that is gone
        click.echo(line, err=True)


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
