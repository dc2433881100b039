"""`clearformer translate`: lets a model on pairs write the target of each source."""

import sys
import time
from pathlib import Path

import click

from clearformer.cli.output import (
    json_option,
    machine_options,
    note_of,
    printable,
    show_json,
    tell,
)


@click.command(name="translate")
@click.argument("run", type=click.Path(path_type=Path))
@click.argument("text", nargs=-1)
@click.option(
    "--beam", default=1, show_default=True,
    help="Beginnings that are gone on with at once; 1 always takes the likeliest token.",
)  # fmt: skip
@machine_options
@json_option
def translate(
    run: Path, text: tuple[str, ...], beam: int, engine: str, device: str | None, as_json: bool
) -> None:
    """Write the target of each TEXT with the model in RUN, which was trained on pairs.

    Without TEXT the lines of standard input are read.

    \b
      clearformer translate runs/dates "3 March 2021" 令和3年3月3日
      clearformer translate runs/dates --beam 5 < dates.txt
    """
    from clearformer.cli.opening import open_run
    from clearformer.runs.translation import translate as translated

    sources = text or _lines()
    trained = open_run(run, engine, device)
    begun = time.perf_counter()
    found = translated(trained, sources, beam)
    seconds = time.perf_counter() - begun
    for note in found.notes:
        tell(note_of(note))
    if not as_json:
        for target in found.targets:
            click.echo(printable(target.text))
        return
    show_json(
        {
            "targets": [
                {
                    "source": target.source,
                    "text": target.text,
                    "tokens": target.tokens,
                    "log_probability": target.log_probability,
                }
                for target in found.targets
            ],
            "beam": beam,
            "seconds": seconds,
            "notes": list(found.notes),
        }
    )


def _lines() -> tuple[str, ...]:
    """Those of standard input, where it is no terminal."""
    if sys.stdin is None or sys.stdin.isatty():
        raise click.UsageError(
            "expected a text to translate; give one or several, or lines on standard input"
        )
    try:
        raw = sys.stdin.buffer.read().decode("utf-8-sig")
    except UnicodeDecodeError as fault:
        raise click.UsageError(
            f"standard input is not UTF-8 (byte {fault.start:,}); convert it first"
        ) from None
    lines = raw.replace("\r\n", "\n").removesuffix("\n").split("\n")
    if not any(line.strip() for line in lines):
        raise click.UsageError("standard input holds nothing to translate; give lines of text")
    return tuple(lines)
