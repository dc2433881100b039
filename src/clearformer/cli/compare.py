"""`clearformer compare`: models of several kinds under an equal budget."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from clearformer.cli.dials import Section, SectionedCommand
from clearformer.cli.output import json_option, printable, show_json
from clearformer.engines.execution import ENGINES


def _in(section: str, *names: str, **options: Any) -> Callable[[Any], Any]:
    """An option under a heading of the help."""

    def add(command: Any) -> Any:
        return click.option(*names, cls=Section, section=section, **options)(command)

    return add


@click.command(name="compare", cls=SectionedCommand)
@click.argument("text", nargs=-1, type=click.Path(path_type=Path))
@_in("What is compared", "--models", metavar="KIND,KIND:DIAL=VALUE,…",
     help="Kinds of model, with dials of their own.  [default: rnn, lstm, gru, decoder, and ngram "
     "where counting can answer; for a task of pairs, such as dates: lstm, seq2seq:attention=none, "
     "seq2seq, encoder-decoder, decoder]")  # fmt: skip
@_in("What is compared", "--task", metavar="NAME",
     help="text, recall, copy, reverse, sort, addition, dates or markov.  [default: text]"
     )  # fmt: skip
@_in("What is compared", "--task-set", "settings", multiple=True, metavar="NAME=VALUE",
     help="A setting of the task, such as distance=256 of recall. May be repeated.")  # fmt: skip
@_in("What is compared", "--measure", metavar="NAME",
     help="What models are ranked by.  [default: bits_per_character, or accuracy]")  # fmt: skip
@_in("What is equal", "--budget", metavar="parameters=N,tokens=N|seconds=N",
     help="For each model; 800k and 1M are numbers, too.")  # fmt: skip
@_in("What is equal", "--seeds", type=int, help="Full trials of each model.  [default: 3]")
@_in("What is equal", "--batch", type=int, help="Sequences in each step.")
@_in("What is equal", "--context", type=int, help="Tokens in a window of a text.")
@_in("What is equal", "--tokenizer", type=click.Choice(["characters", "words", "bytepair"]),
     help="What a token is.  [default: characters]")  # fmt: skip
@_in("What is equal", "--vocab", type=int, help="At most so many different tokens.")
@_in("What is equal", "--encoding", default="utf-8", help="Of the files.  [default: utf-8]")
@_in("Where it is kept", "--out", type=click.Path(path_type=Path),
     help="Folder of the comparison.  [default: comparisons/NAME]")  # fmt: skip
@_in("Where it is kept", "--resume", is_flag=True,
     help="Go on with the comparison in --out; nothing else need be said.")  # fmt: skip
@_in("What is shown", "--report", type=click.Path(path_type=Path), metavar="FILE",
     help="The page of HTML, with pictures, once more; one is in the folder.")  # fmt: skip
@_in("What is shown", "--lesson", is_flag=True,
     help="Measure the textbook's table instead: what each kind remembers, reaches and costs."
     )  # fmt: skip
@_in("What is shown", "--minutes", type=float,
     help="That the lesson takes, about; with fewer than 2.5 it takes longer.  [default: 10]"
     )  # fmt: skip
@_in("What is shown", "--language", type=click.Choice(["en", "ja"]),
     help="Of the report.  [default: en]")  # fmt: skip
@_in("What is shown", "--why/--no-why", default=None,
     help="Measure the reasons on the trained models, too, in about a minute.")  # fmt: skip
@_in("The machine", "--engine", type=click.Choice(ENGINES),
     help="What does the arithmetic.  [default: numpy]")  # fmt: skip
@_in("The machine", "--device", metavar="cpu|cuda|mps", help="Of PyTorch.")
@_in("The machine", "--workers", type=int, help="Processors that share a batch, at most.")
@json_option
def compare(
    text: tuple[Path, ...],
    settings: tuple[str, ...],
    out: Path | None,
    report: Path | None,
    task: str | None,
    lesson: bool,
    minutes: float | None,
    as_json: bool,
    **given: Any,
) -> None:
    """Compare models of several kinds on TEXT, or on a task whose best answer is known.

    All have as many parameters, within 2 %, and read as many tokens, or train as many seconds. The
    learning rate of each is searched for on the same grid; each is trained with several seeds and
    judged on text that none has learned from. What counting alone reaches stands beside them.
    Without TEXT they learn from the documentation that every Python carries. Ctrl-C stops; every
    trial that has ended is kept.

    \b
      clearformer compare my-text.txt
      clearformer compare my-text.txt --budget parameters=100k,seconds=60
      clearformer compare my-text.txt --models ngram,lstm,decoder
      clearformer compare --task recall --task-set distance=128 --models rnn,lstm
      clearformer compare my-text.txt --models decoder,decoder:recipe=classic
      clearformer compare --resume --out comparisons/my-text
      clearformer compare --lesson
    """
    from clearformer.cli.comparison_display import ComparisonDisplay
    from clearformer.cli.comparison_table import table_of

    if minutes is not None and not lesson:
        raise click.UsageError("--minutes goes with --lesson; a comparison has a budget of seconds")
    place = out or (None if given["resume"] else _default_place(text, "lesson" if lesson else task))
    language = given.pop("language")
    common = {"folder": place, "report": report, "language": language}
    chosen = {"task": task, "settings": _settings(settings) or None, **given}
    with ComparisonDisplay() as display:
        common["listener"] = display
        if lesson:
            common["language"] = language = language or "en"
            found = _taught(list(text) or None, minutes, chosen, common)
        else:
            from clearformer.comparison.compare import compare as compared

            found = compared(list(text) or None, **chosen, **common)
    if as_json:
        show_json(found.to_json())
        return
    for line in _lesson(found, language) if lesson else table_of(found):
        click.echo(printable(line))
    page = report or Path(str(place)) / "report.html"
    click.echo(f"\nEvery trial is kept in  {printable(str(place))}")
    click.echo(f"To see it in a browser  {printable(str(page))}")


def _taught(
    text: Any, minutes: float | None, chosen: dict[str, Any], common: dict[str, Any]
) -> Any:
    """A lesson: it decides by itself what is compared."""
    from clearformer.comparison.teaching import MINUTES, taught

    unless = {"resume": False, "encoding": "utf-8"}
    others = {
        name: value
        for name, value in chosen.items()
        if name != "seeds" and value != unless.get(name)
    }
    taken = MINUTES if minutes is None else minutes
    return taught(text, minutes=taken, seeds=chosen["seeds"], others=others, **common)


def _lesson(found: Any, language: str) -> list[str]:
    """The textbook's table for a terminal."""
    from clearformer.cli.comparison_table import COLUMNS
    from clearformer.comparison.lesson.table import Lesson
    from clearformer.comparison.lesson.words import lines
    from clearformer.comparison.report.page import LANGUAGES
    from clearformer.explanation.lines import cell_width, wrapped

    written = lines(Lesson.from_json(found.lesson), LANGUAGES[language])
    return [
        part
        for line in written
        for part in (wrapped(line, COLUMNS) if cell_width(line) > COLUMNS else [line])
    ]


def _default_place(text: tuple[Path, ...], task: str | None) -> Path:
    from clearformer.training.run_name import default_run_path

    name = text[0].stem if text else "python-docs" if task in (None, "text") else str(task)
    return default_run_path(name, Path("comparisons"))


def _settings(written: tuple[str, ...]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for setting in written:
        name, equals, value = (part.strip() for part in setting.partition("="))
        if not equals or not name or name in found:
            raise click.UsageError(
                f"a setting of the task is written once, as NAME=VALUE; got {setting!r}"
            )
        found[name] = int(value) if value.lstrip("-").isdecimal() else value
    return found
