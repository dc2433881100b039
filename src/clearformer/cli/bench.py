"""`clearformer bench`: how quick it is on this machine, beside others in the same run."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from clearformer.cli.output import (
    PASSING,
    json_option,
    note_of,
    printable,
    require_place,
    show_json,
    tell,
)

if TYPE_CHECKING:
    from clearformer.benchmarking.bench import Bench

INTERRUPTED = 130
"""The exit status after Ctrl-C."""


@click.command(name="bench")
@click.argument("text", nargs=-1, type=click.Path(path_type=Path))
@click.option(
    "--only",
    multiple=True,
    metavar="ROW",
    help="Only this row, or all that begin so: training, generation. May be repeated.",
)
@click.option("--quick", is_flag=True, help="Fewer turns: rough figures in two minutes or so.")
@click.option(
    "--threads", type=click.IntRange(1), help="Of every side.  [default: processors, at most 8]"
)
@click.option(
    "--c-program",
    type=click.Path(path_type=Path),
    metavar="PATH",
    help="A peer of generation: run of llama2.c, as you have built it.",
)
@click.option(
    "--record",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Keep the JSON document; in an older one, the rows that are measured.",
)
@click.option(
    "--against",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="A record; tell which ratios are worse than there by over 15 %.",
)
@click.option("--list", "as_list", is_flag=True, help="List the rows.")
@click.option(
    "--language",
    type=click.Choice(["en", "ja"]),
    default="en",
    show_default=True,
    help="Of what is said.",
)
@json_option
def bench(
    text: tuple[Path, ...],
    only: tuple[str, ...],
    quick: bool,
    threads: int | None,
    c_program: Path | None,
    record: Path | None,
    against: Path | None,
    as_list: bool,
    language: str,
    as_json: bool,
) -> int:
    """Measure how quick clearformer is on this machine, beside others in the same run.

    Each row is a ratio to a peer that takes turns with clearformer, with as many threads; half of
    the turns lie between the quartiles. A peer that is not installed is told with how to get it.
    What is learned from is TEXT, or the documentation that Python carries. Let nothing else run
    meanwhile. Ctrl-C stops; what was measured so far is shown.

    \b
      clearformer bench
      clearformer bench --quick
      clearformer bench --only training --only start-help
      clearformer bench my-text.txt --only time-to-quality
    """
    from clearformer.benchmarking.bench import bench as measured
    from clearformer.benchmarking.bench import chosen
    from clearformer.benchmarking.peer_c import require_program
    from clearformer.benchmarking.record import read_record
    from clearformer.benchmarking.row import Request
    from clearformer.benchmarking.rows import ROWS
    from clearformer.cli.bench_display import BenchDisplay
    from clearformer.cli.bench_words import LANGUAGES
    from clearformer.engines.threads import MOST_WORKERS, processors
    from clearformer.runs.sources import corpus_of

    words = LANGUAGES[language]
    if as_list:
        return _list(language, as_json)
    if record:
        require_place("--record", record)
        if record.exists():
            read_record(record)  # refused before anything is measured
    if c_program:
        require_program(c_program)
    before = read_record(against) if against else {}
    rows = chosen(ROWS, only)
    threads = threads or min(processors(), MOST_WORKERS)
    request = Request(corpus_of(list(text) or None), threads, quick, c_program)
    found = measured(rows, request, BenchDisplay(words, as_json, before))
    PASSING.wipe()
    _close(found, words, as_json, record)
    return INTERRUPTED if found.interrupted else 0


def _list(language: str, as_json: bool) -> int:
    from clearformer.benchmarking.rows import ROWS

    if as_json:
        show_json({"rows": [{"row": row.key, "what": row.title[language]} for row in ROWS]})
    else:
        for row in ROWS:
            click.echo(f"{row.key:22} {row.title[language]}")
    return 0


def _close(found: "Bench", words: Any, as_json: bool, record: Path | None) -> None:
    """Notes, the document, the record."""
    from clearformer.benchmarking.record import with_record
    from clearformer.benchmarking.report import BUSY
    from clearformer.training.durable import replace_file

    if found.request.quick:
        tell(note_of(words.quick))
    if found.busy is not None and found.busy > BUSY:
        tell(note_of(words.busy.format(found.busy)))
    document = found.document()
    if record:
        content = json.dumps(with_record(record, document), indent=1) + "\n"
        replace_file(record, content.encode())
    if as_json:
        show_json(document)
    elif record:
        click.echo(words.recorded.format(printable(str(record))))
    if found.interrupted:
        tell(f"clearformer: {words.stopped}")
