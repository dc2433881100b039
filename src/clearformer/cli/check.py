"""`clearformer check`: judges a learner's own step and names the mistake."""

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

import click

from clearformer.cli.output import PASSING, json_option, printable, show_json
from clearformer.cli.styled import show_lines

if TYPE_CHECKING:
    from clearformer.checking.check import Check


@click.command(name="check")
@click.argument("exercise", required=False)
@click.argument("file", required=False, metavar="[FILE[:FUNCTION]]")
@click.option("--hint", type=click.IntRange(1, 3), help="1 a question, 2 the way out, 3 the code.")
@click.option("--show", is_flag=True, help="Print the smallest failing input, to paste and try.")
@click.option("--watch", is_flag=True, help="Judge again whenever the file changes.")
@click.option("--list", "as_list", is_flag=True, help="List the exercises.")
@click.option(
    "--start", type=click.Path(path_type=Path), metavar="FILE", help="Write a file to start from."
)
@click.option(
    "--path",
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help="All of a Transformer, one exercise after another.",
)
@click.option(
    "--language",
    type=click.Choice(["en", "ja"]),
    default="en",
    show_default=True,
    help="Of what is said.",
)
@json_option
def check(
    exercise: str | None,
    file: str | None,
    hint: int | None,
    show: bool,
    watch: bool,
    as_list: bool,
    start: Path | None,
    path: Path | None,
    language: str,
    as_json: bool,
) -> int:
    """Judge your own version of a step of the Transformer, and name the mistake.

    EXERCISE is a name of --list, or a teacher's own exercise file (ending in .py). FILE is yours;
    it runs in a process of its own.

    \b
      clearformer check --list
      clearformer check softmax                        what to write
      clearformer check softmax --start mine.py        a file to start from
      clearformer check softmax mine.py                judge it
      clearformer check softmax mine.py --hint 2       and say how to mend it
      clearformer check --path transformer             all of one, step by step

    Exit status: 0 right, 1 wrong, 2 could not run.
    """
    if watch and (start or as_list):
        raise click.UsageError("--watch judges; leave out --start and --list")
    if watch and as_json:
        raise click.UsageError("--watch is for a person; leave out --json")
    if as_list:
        return _list(language, as_json)
    options: dict[str, Any] = {"language": language, "hint": hint or 0}
    if path:
        if exercise or start:
            raise click.UsageError("--path chooses the exercise and the file; leave out the others")
        return _along(path, show, watch, options, as_json)
    if exercise is None:
        raise click.UsageError("which exercise? clearformer check --list shows them")
    if file is None and watch:
        raise click.UsageError("--watch needs the file to judge, behind the exercise")
    if file is None:
        return _introduce(exercise, start, language, as_json)
    if start:
        raise click.UsageError("--start writes a new file; leave out the one to judge")
    answer, function = _parted(file)
    options["function"] = function
    if watch:
        from clearformer.cli.check_watch import watch_file

        watch_file(exercise, answer, show, options)
    found = judged(exercise, answer, options)
    if as_json:
        show_json(found.to_json())
    else:
        show_verdict(found, show)
    return found.judged.status


def _along(path: Path, show: bool, watch: bool, options: dict[str, Any], as_json: bool) -> int:
    """All of a Transformer, once or whenever something changes."""
    from clearformer.cli.check_path import walk

    if watch:
        from clearformer.cli.check_watch import watch_folder

        watch_folder(path, lambda: walk(path, show, options, as_json=False), options["language"])
    return walk(path, show, options, as_json)


def judged(exercise: str, path: Path, options: dict[str, Any]) -> "Check":
    """The verdict on a file."""
    from clearformer.checking.check import check_file

    said = {"en": f"judging {path.name}", "ja": f"{path.name} を判定しています"}
    with PASSING.during(said[options["language"]]):
        return check_file(path, exercise, **options)


def show_verdict(found: "Check", show: bool) -> None:
    """Prints the verdict, and the smallest failing input if that is to be shown."""
    from clearformer.checking.rendering import WIDTH, lines_of

    on_screen = sys.stdout is not None and sys.stdout.isatty()
    width = min(WIDTH, shutil.get_terminal_size().columns) if on_screen else WIDTH
    show_lines(lines_of(found.judged, found.language, found.hint, width))
    if show:
        for line in _shown(found):
            click.echo(printable(line))


def _shown(found: "Check") -> Iterator[str]:
    """The smallest failing input, and what the file printed."""
    from clearformer.checking.showing import pasteable

    verdict = found.judged
    if verdict.failing:
        yield ""
        yield pasteable(
            verdict.exercise,
            verdict.failing,
            found.language,
            function=verdict.record.function,
            library=verdict.record.style.library,
        )
    if verdict.record.printed:
        yield ""
        yield {"en": "# it printed:", "ja": "# 出力:"}[found.language]
        yield from (f"#   {line}" for line in verdict.record.printed.splitlines())


def _list(language: str, as_json: bool) -> int:
    from clearformer.checking.catalogue import every

    exercises = every()
    if as_json:
        listed = [
            {"exercise": each.name, "title": each.title.to(language), "signature": each.signature}
            for each in exercises
        ]
        show_json({"exercises": listed})
        return 0
    width = max(len(each.name) for each in exercises)
    for each in exercises:
        click.echo(f"{each.name:<{width}}  {each.title.to(language)}")
    return 0


def _introduce(exercise: str, start: Path | None, language: str, as_json: bool) -> int:
    from clearformer.checking.catalogue import find
    from clearformer.checking.starter import page, starter

    chosen = find(exercise)
    if start:
        write_new(start, starter(chosen, language))
    if as_json:
        task = chosen.task.to(language)
        document = {"exercise": chosen.name, "signature": chosen.signature, "task": task}
        show_json({**document, "starter": starter(chosen, language)})
    elif start:
        line = f"clearformer check {quote(exercise)} {quote(str(start))}"
        click.echo(f"wrote {start}; judge it with: {line}")
    else:
        click.echo(page(chosen, language, exercise))
    return 0


def write_new(path: Path, text: str) -> None:
    """Writes a file that is not there yet.

    Raises:
        UsageError: it is there, or cannot be written.
    """
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise click.UsageError(f"{path} is there already; choose another name") from None
    except OSError as error:
        raise click.UsageError(f"{path} cannot be written: {error.strerror}") from None


def _parted(file: str) -> tuple[Path, str | None]:
    """The path and the name of the function, which may be left out."""
    path, colon, function = file.rpartition(":")
    if colon and function.isidentifier() and path:
        return Path(path), function
    return Path(file), None
