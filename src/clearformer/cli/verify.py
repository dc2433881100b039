"""`clearformer verify`: whether two engines, or a device, compute the same."""

import os
from importlib.util import find_spec
from typing import Any

import click

from clearformer.cli.output import json_option, note_of, printable, show_json, tell

COLOURS: dict[str, dict[str, Any]] = {
    "plain": {},
    "faint": {"dim": True},
    "strong": {"bold": True},
    "good": {"fg": "green"},
    "bad": {"fg": "red", "bold": True},
}
"""For each kind of text; never the only sign of anything."""

DISAGREES = 1
"""The exit status."""


@click.command(name="verify")
@click.option(
    "--engine",
    type=click.Choice(["numpy", "torch"]),
    help="What is verified.  [default: torch if PyTorch is installed]",
)
@click.option("--device", default="cpu", metavar="cpu|cuda|mps", help="Where.  [default: cpu]")
@json_option
def verify(engine: str | None, device: str, as_json: bool) -> int:
    """Check that two engines, or a device, compute the same.

    Every operation, whole models and a training step, values and gradients, in every type of
    number: PyTorch's against NumPy's in float64; with --engine numpy, NumPy's float32 against its
    float64, and its gradients against finite differences. It is a test of this computer, too. The
    exit status is 1 if something does not agree.

    \b
      clearformer verify
      clearformer verify --device cuda
      clearformer verify --engine numpy
    """
    from clearformer.cli.opening import load_engine
    from clearformer.cli.progress import Counter
    from clearformer.verification.table import lines
    from clearformer.verification.verify import verify as verified

    engine = engine or ("torch" if find_spec("torch") else "numpy")
    load_engine(engine, device)
    with Counter("verifying") as counter:
        found = verified(engine, device, counter.show)
    if as_json:
        for note in found.notes:
            tell(note_of(note))
        show_json(found.to_json())
    else:
        for line in lines(found):
            pieces = (_coloured(printable(text), COLOURS[style]) for text, style in line)
            click.echo("".join(pieces), color=False if "NO_COLOR" in os.environ else None)
    return 0 if found.agrees else DISAGREES


def _coloured(text: str, colour: dict[str, Any]) -> str:
    return click.style(text, **colour) if colour else text
