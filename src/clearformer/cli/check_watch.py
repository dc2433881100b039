"""`clearformer check --watch`: judges again whenever something changes, until Ctrl-C."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import click

from clearformer.checking.words import Words
from clearformer.cli.check import judged, show_verdict
from clearformer.cli.output import on_terminal, tell

LOOK_EVERY = 0.1
"""Seconds between two looks."""

WATCHING = Words(
    "watching {what}: judged again at every change; Ctrl-C ends it",
    "{what} を見ています。変わるたびに判定します (Ctrl-C で終了)",
)


def watch_file(exercise: str, path: Path, show: bool, options: dict[str, Any]) -> NoReturn:
    """Judges a file now and after every change; the next process loads meanwhile."""
    from clearformer.checking.running.apart import prepared

    ready = None

    def judge() -> None:
        nonlocal ready
        show_verdict(judged(exercise, path, {**options, "process": ready}), show)
        ready = prepared(path)

    try:
        _watch(path, lambda: _stamp(path), judge, options["language"])
    finally:
        if ready:
            ready.end()


def watch_folder(folder: Path, walk: Callable[[], object], language: str) -> NoReturn:
    """Judges now and whenever an answer in `folder` changes; a file just begun is no change."""
    from clearformer.checking.path import answer_in, there

    begun: dict[str, object] = {}

    def stamps() -> dict[str, object]:
        found = {name: _stamp(answer_in(folder, name)) for name in there(folder)}
        return {name: stamp for name, stamp in found.items() if begun.get(name) != stamp}

    def judge() -> None:
        before = there(folder)
        walk()
        new = (name for name in there(folder) if name not in before)
        begun.update({name: _stamp(answer_in(folder, name)) for name in new})

    _watch(folder, stamps, judge, language)


def _watch(
    what: Path, stamp: Callable[[], object], judge: Callable[[], object], language: str
) -> NoReturn:
    """What stood in the terminal before the first verdict stays; a later one takes its place."""
    before: object = None
    while True:
        now = stamp()
        if now != before:
            if before is not None and on_terminal():
                click.clear()
            tell(WATCHING.to(language).format(what=what))
            before = now
            judge()
        time.sleep(LOOK_EVERY)


def _stamp(path: Path) -> object:
    try:
        found = path.stat()
    except OSError:
        return ()
    return found.st_mtime_ns, found.st_size
