"""A lesson as a comparison: that of the text, with the textbook's table beside it."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from shlex import quote
from typing import Any

from clearformer.comparison import study
from clearformer.comparison.compare import compare
from clearformer.comparison.document import Comparison
from clearformer.comparison.events import Listener
from clearformer.comparison.lesson.measure import lesson, require_minutes
from clearformer.comparison.reporting import require_language, require_place, write_report
from clearformer.errors import ConfigurationError, Interrupted
from clearformer.training import strict_json
from clearformer.training.durable import in_one_line, replace_file

SEEDS, MINUTES = 1, 10.0

LEAST_MINUTES = 2.5
"""What building, judging and measuring take on two processors, however short the training is."""


def taught(
    text: Any = None,
    *,
    minutes: float = MINUTES,
    seeds: int | None = None,
    folder: str | Path | None = None,
    report: str | Path | None = None,
    language: str = "en",
    listener: Listener | None = None,
    others: Mapping[str, Any] | None = None,
) -> Comparison:
    """Measures the textbook's table; what was compared on the text carries it.

    Args:
        text: as of `compare`.
        minutes: that everything may take, about.
        seeds: full trials of each model, 1 unless given.
        folder: where every trial is kept; the same call goes on there.
        report: the file of HTML to write, beside `report.html` in the folder.
        language: of the report, en or ja.
        listener: hears what is measured.
        others: further options, of which a lesson bears none.

    Raises:
        ConfigurationError, TextError, RunError, NotFiniteError, Interrupted: see `compare`.
    """
    given = sorted(name for name, value in (others or {}).items() if value is not None)
    if given:
        raise ConfigurationError(
            f"a lesson decides by itself what is compared and how; leave out {', '.join(given)}"
        )
    require_language(language)
    if report is not None:
        require_place(Path(report))
    heard, made = listener or Listener(), []
    require_minutes(minutes)
    heard.note(_duration(minutes))

    def compared(text: Any = None, **options: Any) -> Comparison:
        made.append(compare(text, **options))
        return made[-1]

    try:
        found = lesson(
            text,
            minutes=minutes,
            seeds=seeds or SEEDS,
            folder=folder,
            compared=compared,
            progress=heard.looking,
        )
    except Interrupted as stop:
        raise Interrupted(_going_on(folder), stop.signal) from None
    comparison = replace(made[0], lesson=found.to_json())
    if folder is not None:
        _keep(comparison, Path(folder), language)
    if report is not None:
        write_report(comparison, Path(report), language)
    return comparison


def _duration(minutes: float) -> str:
    """About how long a lesson takes, for a person."""
    if minutes < LEAST_MINUTES:
        return (
            f"judging and measuring alone take about {LEAST_MINUTES:g} minutes, so the lesson "
            f"takes longer than minutes={minutes:g}, and hardly anything is learned in it"
        )
    return f"the lesson takes about {minutes:g} minutes; Ctrl-C stops"


def _keep(comparison: Comparison, folder: Path, language: str) -> None:
    file = folder / study.DOCUMENT
    with in_one_line("write", file):
        replace_file(file, strict_json.encode(comparison.to_json(), str(file)))
    write_report(comparison, folder / study.REPORT, language)


def _going_on(folder: str | Path | None) -> str:
    if folder is None:
        return "the lesson was stopped; nothing was kept, as no folder was named"
    return (
        "the lesson was stopped; go on with the same command and --out "
        f"{quote(str(folder))}, where every trial that has ended is kept"
    )
