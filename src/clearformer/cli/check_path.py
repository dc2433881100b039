"""`clearformer check --path`: one exercise after another, in a folder of one's own."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from clearformer.checking.words import Words
from clearformer.cli.check import judged, show_verdict, write_new
from clearformer.cli.output import show_json

if TYPE_CHECKING:
    from clearformer.checking.check import Check

NEXT = Words(
    "{done} of {all} right. Next: {name} ({title})\n"
    "  wrote {file}; fill it in, then again: clearformer check --path {folder}",
    "{all} 個のうち {done} 個が正解です。次は {name} ({title})\n"
    "  {file} を書きました。関数を埋めたら、もう一度: clearformer check --path {folder}",
)
END = Words(
    "{all} of {all} right: all that a Transformer is made of. The tutorial puts it together.",
    "{all} 個すべて正解です。Transformer の部品がそろいました。組み立ては入門のページで。",
)


def walk(folder: Path, show: bool, options: dict[str, Any], as_json: bool) -> int:
    """Judges what changed in `folder`, the latest first; if all is right writes the next file.

    Where all are there, all are judged. Returns the exit status.
    """
    from clearformer.checking.path import PATH, Judged, answer_in, waiting

    if folder.is_file():
        raise click.UsageError(
            f"{folder} is a file; --path expects a folder: name an exercise to judge one file"
        )
    kept = Judged.of(folder)
    found = None
    for name in waiting(folder, kept.right()):
        found = judged(name, answer_in(folder, name), options)
        kept.keep(name, found.is_right)
        if not as_json:
            show_verdict(found, show)
        if not found.is_right:
            break
    right = tuple(kept.right())
    goes_on = _next(folder, found)
    if goes_on:
        _begin(folder, goes_on, len(right), options["language"], as_json)
    elif right == PATH and not as_json:
        click.echo(END.to(options["language"]).format(all=len(PATH)))
    if as_json:
        show_json(_document(folder, right, found, goes_on))
    return found.judged.status if found else 0


def _next(folder: Path, found: "Check | None") -> str | None:
    """The first exercise whose file is missing, where all is right or what is not imports it."""
    from clearformer.checking.path import PATH, there

    missing = next((name for name in PATH if name not in there(folder)), None)
    if missing is None or found is None or found.is_right:
        return missing
    failure = found.judged.record.failure
    lacks_it = failure is not None and f"No module named '{missing}'" in failure.message.en
    return missing if lacks_it else None


def _begin(folder: Path, name: str, done: int, language: str, silent: bool) -> None:
    from clearformer.checking.catalogue import find
    from clearformer.checking.path import PATH, answer_in
    from clearformer.checking.starter import starter

    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise click.UsageError(f"{folder} cannot be a folder: {error.strerror}") from None
    exercise, file = find(name), answer_in(folder, name)
    write_new(file, starter(exercise, language))
    if not silent:
        line = NEXT.to(language).format(
            done=done,
            all=len(PATH),
            name=name,
            title=exercise.title.to(language),
            file=file,
            folder=folder,
        )
        click.echo(line)


def _document(
    folder: Path, right: tuple[str, ...], found: "Check | None", begun: str | None
) -> dict[str, Any]:
    from clearformer.checking.path import PATH, answer_in

    return {
        "path": list(PATH),
        "right": list(right),
        "check": found.to_json() if found else None,
        "next": begun,
        "file": str(answer_in(folder, begun)) if begun else None,
    }
