"""`clearformer translate`: lets a model on pairs write the target of each source."""

import sys
import time
from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from clearformer.cli.output import (
    json_option,
    machine_options,
    note_of,
    printable,
    show_json,
    tell,
)
from clearformer.errors import TextError

if TYPE_CHECKING:
    from clearformer.runs.run import Run


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

    Without TEXT the lines of standard input are translated. One that cannot be is named, and a
    blank line stands in its place. With --json one that cannot be translated refuses all.

    \b
      clearformer translate runs/dates "3 March 2021" 令和3年3月3日
      clearformer translate runs/dates --beam 5 < dates.txt
    """
    from clearformer.cli.opening import open_run
    from clearformer.runs.translation import translate as translated

    if not text:
        _require_lines()
    trained = open_run(run, engine, device)
    if not as_json and len(text) != 1:
        _one_by_one(trained, beam, enumerate(text, 1) if text else _numbered())
        return
    sources = text or tuple(_text(raw, number) for number, raw in _numbered())
    if not any(source.strip() for source in sources):
        raise TextError("there is nothing to translate; give a text, or lines on standard input")
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


def _one_by_one(trained: "Run", beam: int, sources: Iterable[tuple[int, str | bytes]]) -> None:
    """Writes the target of each text, or line of standard input, as soon as it is there.

    Raises:
        TextError: at the end, if there was nothing to translate, or what could not be.
    """
    from clearformer.runs.translation import require_pairs
    from clearformer.runs.translation import translate as translated

    require_pairs(trained)
    number, failed, blank, told = 0, 0, 0, set[str]()
    for number, source in sources:
        target = ""
        if not source.strip():
            blank += 1
        else:
            try:
                found = translated(trained, [_text(source, number)], beam, first=number)
                target = found.targets[0].text
                for note in set(found.notes) - told:
                    tell(note_of(note))
                told.update(found.notes)
            except TextError as fault:
                tell(printable(str(fault)))
                failed += 1
        click.echo(printable(target))  # which flushes
    if number == blank:
        raise TextError("there is nothing to translate; give a text, or lines on standard input")
    if failed:
        raise TextError(
            f"texts that could not be translated and are left blank: {failed:,} of {number:,}"
        )


def _require_lines() -> None:
    if sys.stdin is None or sys.stdin.isatty():
        raise click.UsageError(
            "expected a text to translate; give one or several, or lines on standard input"
        )


def _numbered() -> Iterator[tuple[int, bytes]]:
    """The lines of standard input as they come, without their ends and a mark of UTF-8 in front."""
    for number, raw in enumerate(sys.stdin.buffer, 1):
        line = raw.removesuffix(b"\n").removesuffix(b"\r")
        yield number, line.removeprefix(BOM_UTF8) if number == 1 else line


def _text(raw: str | bytes, number: int) -> str:
    """What a line holds; a text is one already.

    Raises:
        TextError: it is not UTF-8.
    """
    try:
        return raw if isinstance(raw, str) else raw.decode()
    except UnicodeDecodeError as fault:
        raise TextError(
            f"text {number:,} is not UTF-8 (byte {fault.start + 1:,} of the line); convert it first"
        ) from None
