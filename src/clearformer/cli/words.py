"""`clearformer words`: gives each word of a text a vector, and shows what is near a word."""

from collections.abc import Sequence
from pathlib import Path
from shlex import quote
from typing import Any

import click

from clearformer.cli.dials import Section, SectionedCommand, dials
from clearformer.cli.output import (
    json_option,
    note_of,
    printable,
    require_place,
    show_json,
    tell,
)
from clearformer.cli.progress import Counter
from clearformer.engines.execution import ENGINES
from clearformer.words.options import WordOptions

SHOWN = 4
"""Words whose neighbours are shown where none is named."""

OFTEN = 4.0
"""Times the threshold: words that are more frequent say little about what a text is about."""


@click.command(name="words", cls=SectionedCommand)
@click.argument("text", nargs=-1, type=click.Path(path_type=Path))
@click.option(
    "--near", metavar="WORD", multiple=True, cls=Section, section="What to show",
    help="Words that are used like WORD. Can be given several times.",
)  # fmt: skip
@click.option(
    "--analogy", metavar="A B C", nargs=3, multiple=True, cls=Section, section="What to show",
    help="What is to C as B is to A. Can be given several times.",
)  # fmt: skip
@click.option(
    "--count", type=click.IntRange(1), default=10, cls=Section, section="What to show",
    help="How many words for each.  [default: 10]",
)  # fmt: skip
@click.option(
    "--map", "map_file", metavar="FILE.svg", type=click.Path(path_type=Path), cls=Section,
    section="What to show", help="Draw the most frequent words as a picture.",
)  # fmt: skip
@click.option(
    "--map-words", type=click.IntRange(2), default=150, cls=Section, section="What to show",
    help="How many words to draw.  [default: 150]",
)  # fmt: skip
@click.option(
    "--out", type=click.Path(path_type=Path), cls=Section, section="What to show",
    help="Keep the vectors in a new folder, to be given as TEXT later.",
)  # fmt: skip
@dials(WordOptions, "Training")
@click.option(
    "--engine", type=click.Choice(ENGINES), cls=Section, section="The machine",
    help="What does the arithmetic; torch needs PyTorch.  [default: numpy]",
)  # fmt: skip
@click.option(
    "--device", cls=Section, section="The machine", metavar="cpu|cuda|mps",
    help="Of PyTorch: where it does it.  [default: the best there is]",
)  # fmt: skip
@click.option("--encoding", help="Of the files.  [default: utf-8]")
@json_option
def words(
    text: tuple[Path, ...],
    near: tuple[str, ...],
    analogy: tuple[tuple[str, str, str], ...],
    count: int,
    map_file: Path | None,
    map_words: int,
    out: Path | None,
    encoding: str | None,
    engine: str | None,
    device: str | None,
    as_json: bool,
    **given: Any,
) -> None:
    """Give each word of TEXT, one or several files, a vector, and show what is near a word.

    Words that occur among the same words get similar vectors (skip-gram with negative sampling).
    TEXT can also be a folder that --out has made. Without TEXT it is the documentation of Python.

    \b
      clearformer words novel.txt --near king --near day
      clearformer words novel.txt --analogy man king woman --map map.svg
      clearformer words novel.txt --out vectors
      clearformer words vectors --near king
    """
    from clearformer.words.files import is_saved, require_new

    if out:
        require_new(out)
    if map_file:
        require_place("--map", map_file)
    notes: list[str] = []
    left_out = None
    chosen = {name: value for name, value in given.items() if value is not None}
    wanted = [*near, *(word for three in analogy for word in three)]
    if len(text) == 1 and is_saved(text[0]):
        given = {**chosen, "engine": engine, "device": device, "encoding": encoding}
        _refuse_training(text[0], [name for name, value in given.items() if value is not None])
        vectors = _opened(text[0], wanted)
    else:
        vectors, notes, left_out = _trained(
            text, wanted, encoding or "utf-8", engine or "numpy", device, chosen
        )
    if not wanted and not (map_file or out):
        near = _telling(vectors)
    document = {
        **_found(vectors, near, analogy, count),
        "left_out": left_out,
        "map": str(map_file) if map_file else None,
        "out": str(out) if out else None,
        "notes": notes,
    }
    if map_file:
        vectors.picture(map_file, map_words)
    if out:
        vectors.save(out)
    for note in notes:
        tell(note_of(note))
    if as_json:
        show_json(document)
    else:
        _show(document, text)


def _found(
    vectors: Any, near: Sequence[str], analogy: Sequence[tuple[str, str, str]], count: int
) -> dict[str, Any]:
    """What was asked for."""
    return {
        "words": int(vectors.vocabulary.counts.sum()),
        "vocabulary": len(vectors),
        "options": vectors.options.to_json(),
        "loss": vectors.loss,
        "near": [
            {"word": word, "found": _rows(vectors, vectors.near(word, count))} for word in near
        ],
        "analogies": [
            {"words": list(three), "found": _rows(vectors, vectors.analogy(*three, count))}
            for three in analogy
        ],
    }


def _trained(
    text: Sequence[Path],
    wanted: Sequence[str],
    encoding: str,
    engine: str,
    device: str | None,
    chosen: dict[str, Any],
) -> tuple[Any, list[str], int]:
    """The vectors of a text; a word that has none is refused before they are trained."""
    from clearformer.cli.opening import load_engine
    from clearformer.engines.choose import require_possible
    from clearformer.engines.execution import Wish
    from clearformer.runs.sources import corpus_of
    from clearformer.words.training import fit
    from clearformer.words.vocabulary import count_words

    options = WordOptions(**chosen)
    load_engine(engine, device)
    require_possible(Wish(engine, device))
    corpus = corpus_of(list(text) or None, encoding)
    counted = count_words(corpus.text, options.least)
    for word in wanted:
        counted.vocabulary.id_of(word)
    with Counter(f"learning {len(counted.vocabulary):,} words") as counter:
        vectors = fit(counted, options, engine=engine, device=device, progress=counter.show)
    return vectors, list(corpus.notes), counted.left_out


def _opened(path: Path, wanted: Sequence[str]) -> Any:
    from clearformer.words.vectors import WordVectors

    vectors = WordVectors.load(path)
    for word in wanted:
        vectors.vocabulary.id_of(word)
    return vectors


def _refuse_training(path: Path, given: Sequence[str]) -> None:
    if given:
        flags = ", ".join("--" + name.replace("_", "-") for name in given)
        raise click.UsageError(f"{path} is trained already; leave out {flags}, or give the text")


def _telling(vectors: Any) -> tuple[str, ...]:
    """The most frequent words that are not so frequent that all texts are full of them."""
    counts = vectors.vocabulary.counts
    often = counts > OFTEN * vectors.options.threshold * counts.sum()
    rest = [word for word, is_often in zip(vectors.words, often, strict=True) if not is_often]
    long = [word for word in rest if len(word) > 1]
    return tuple((long or list(vectors.words))[:SHOWN])


def _rows(vectors: Any, found: Sequence[tuple[str, float]]) -> list[dict[str, Any]]:
    vocabulary = vectors.vocabulary
    return [
        {"word": word, "cosine": cosine, "count": int(vocabulary.counts[vocabulary.id_of(word)])}
        for word, cosine in found
    ]


def _show(document: dict[str, Any], text: Sequence[Path]) -> None:
    rare = document["left_out"]
    least = document["options"]["least"]
    left = "" if rare is None else f"; {rare:,} that occur less than {least} times are left out"
    click.echo(f"{document['words']:,} words, {document['vocabulary']:,} different{left}")
    for entry in document["near"]:
        _table(f"near {entry['word']}", entry["found"])
    for entry in document["analogies"]:
        a, b, c = entry["words"]
        _table(f"{a} is to {b} as {c} is to", entry["found"])
    if document["map"]:
        click.echo(f"\nThe map is in {printable(document['map'])}; any browser shows it.")
    if document["out"]:
        name = quote(printable(document["out"]))
        click.echo(f"\nThe vectors are in {printable(document['out'])}. Next:\n")
        click.echo(f"    clearformer words {name} --near WORD")
    elif not text:
        click.echo("\nWith a text of yours:  clearformer words my-text.txt --near WORD")


def _table(title: str, rows: Sequence[dict[str, Any]]) -> None:
    click.echo(f"\n{printable(title)}\n  cosine   times")
    for row in rows:
        click.echo(f"  {row['cosine']:6.2f} {row['count']:7,}   {printable(row['word'])}")
