"""`clearformer prepare`: turns a text of any size into a folder of ids to train on."""

import time
from pathlib import Path
from shlex import quote
from typing import Any

import click

from clearformer.cli.output import (
    PASSING,
    json_option,
    note_of,
    on_terminal,
    printable,
    show_json,
    tell,
)
from clearformer.cli.progress import BAR_SECONDS, PLAIN_SECONDS, clock
from clearformer.corpora.watch import Watch
from clearformer.training.memory import in_words


@click.command(name="prepare")
@click.argument("text", nargs=-1, type=click.Path(path_type=Path))
@click.option("--out", type=click.Path(path_type=Path), required=True, help="Folder of the data.")
@click.option(
    "--tokenizer",
    type=click.Choice(["characters", "words", "bytepair"]),
    default="characters",
    show_default=True,
    help="What a token is.",
)
@click.option("--vocab", type=int, help="At most so many different tokens.")
@click.option("--encoding", default="utf-8", show_default=True, help="Of the files.")
@click.option(
    "--workers",
    type=int,
    help="Processes.  [default: as many as processors, fewer for a short text]",
)
@click.option("--verify", is_flag=True, help="Only compare what is in --out with its SHA-256.")
@json_option
def prepare(
    text: tuple[Path, ...],
    out: Path,
    tokenizer: str,
    vocab: int | None,
    encoding: str,
    workers: int | None,
    verify: bool,
    as_json: bool,
) -> None:
    """Turn TEXT, one or several files of any size, into a folder of ids to train on.

    A text that fits into memory needs no preparing: give it to `train` itself. This reads it piece
    by piece and writes the ids into files from which `train` takes what it needs, so that neither
    ever has it in memory. Training on the folder equals training on the text.

    Ctrl-C stops; what is finished is kept, and the same command goes on from there.

    \b
      clearformer prepare wikipedia.txt --tokenizer bytepair --vocab 16000
      clearformer train data/wikipedia --minutes 60
    """
    if verify and text:
        raise click.UsageError("--verify reads what is in --out; leave TEXT out")
    if verify:
        _verify(out, as_json)
        return
    if not text:
        raise click.UsageError("expected the files of a text; got none")
    from clearformer.corpora.prepare import prepare as prepare_text

    with Display() as display:
        outcome = prepare_text(
            list(text),
            out,
            tokenizer=tokenizer,
            vocab=vocab,
            encoding=encoding,
            workers=workers,
            watch=display,
        ).to_json()
    for note in outcome["notes"]:
        tell(note_of(note))
    if as_json:
        show_json(outcome)
    else:
        _show(outcome)


def _show(outcome: dict[str, Any]) -> None:
    tokens, judged = outcome["tokens"], outcome["validation_tokens"]
    name = printable(outcome["data"])
    click.echo(f"Text   {outcome['characters']:,} characters")
    click.echo(f"Tokens {outcome['tokenizer']}, vocabulary {outcome['vocabulary']:,}")
    click.echo(f"Data   {tokens:,} tokens to learn from, {judged:,} to be judged by")
    click.echo(
        f"Folder {name}: {outcome['shards']} shards, {in_words(outcome['bytes'])}\n\nNext:\n"
    )
    click.echo(f"    clearformer train {quote(name)}")


def _verify(path: Path, as_json: bool) -> None:
    from clearformer.corpora.data_folder import open_data, verify

    data = open_data(path)
    verify(data)
    if as_json:
        show_json({"data": str(path), "shards": len(data.finished), "verified": True})
        return
    click.echo(f"{printable(str(path))}: all {len(data.finished)} shards are as they were made")


class Display(Watch):
    """Shows the share done, the speed and the time left: in one line of a terminal, or in lines."""

    def __init__(self) -> None:
        self._doing, self._size = "", 0
        self._begun = self._shown_at = time.monotonic()
        self._moves = on_terminal()

    def __enter__(self) -> "Display":
        return self

    def __exit__(self, *_: object) -> None:
        PASSING.wipe()

    def note(self, text: str) -> None:
        """Shows it as a line."""
        tell(note_of(text))

    def begin(self, doing: str, size: int) -> None:
        """The clock of a stretch of work starts."""
        PASSING.wipe()
        self._doing, self._size = doing, size
        self._begun = self._shown_at = time.monotonic()

    def show(self, share: float) -> None:
        """Shows it when it is time."""
        now = time.monotonic()
        if now - self._shown_at < (BAR_SECONDS if self._moves else PLAIN_SECONDS):
            return
        self._shown_at = now
        line = self._line(share, now - self._begun)
        if self._moves:
            PASSING.show(line)
        else:
            tell(line)

    def _line(self, share: float, seconds: float) -> str:
        if not share or not seconds:
            return f"{self._doing} …"
        speed = share * self._size / 1e6 / seconds
        left = clock(seconds * (1 - share) / share)
        return f"{self._doing}: {share:4.0%} · {speed:,.1f} MB/s · {left} left"
