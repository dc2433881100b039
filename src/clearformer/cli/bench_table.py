"""The table of speed in a terminal of 80 columns, one row as soon as it is measured."""

from collections.abc import Iterator

from clearformer.benchmarking.report import Figures, readable
from clearformer.benchmarking.row import Finding, Row
from clearformer.cli.bench_words import Words
from clearformer.explanation.lines import left, right, wrapped

COLUMNS = 80
TITLE, FIGURE, UNIT, RATIO = 20, 9, 9, 19


def head(words: Words) -> str:
    """What stands above the columns."""
    return _line(words.what, words.ours, words.peer, "", words.ratio, words.goal)


def lines(finding: Finding, words: Words) -> Iterator[str]:
    """A row, and beneath it who the peer is, or how to get one."""
    row, ratio = finding.row, finding.ratio
    yield _line(
        row.title[words.language],
        _figure(finding.ours),
        _figure(finding.peer),
        row.unit,
        _spread(ratio) if ratio else "–",
        f"{_goal(row)} {words.verdict(finding.reached)}",
    )
    for said in _remarks(finding, words):
        yield from (f"  {part}" for part in wrapped(said, COLUMNS - 2))


def _remarks(finding: Finding, words: Words) -> Iterator[str]:
    if finding.fault:
        yield words.failed.format(finding.fault)
        return
    about = finding.report.about if finding.report else {}
    if finding.peer_name:
        known = about.get(finding.peer_name)
        yield words.against.format(finding.peer_name) + (f": {known}" if known else "")
    elif finding.row.how_to_get:
        yield words.absent.format(finding.row.how_to_get)


def _line(title: str, ours: str, peer: str, unit: str, ratio: str, goal: str) -> str:
    figures = right(ours, FIGURE) + right(peer, FIGURE) + " " + left(unit, UNIT - 1)
    return f"{left(title, TITLE)}{figures}{right(ratio, RATIO)} {goal}".rstrip()


def _figure(figures: Figures | None) -> str:
    return readable(figures.median) if figures else "–"


def _spread(figures: Figures) -> str:
    low, high = figures.spread
    alone = len(figures.samples) < 2
    return _ratio(figures.median) + ("" if alone else f" ({_ratio(low)} … {_ratio(high)})")


def _ratio(value: float) -> str:
    """In at most four columns below 100, so that a space stands before it."""
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def _goal(row: Row) -> str:
    sign = "≥" if row.goal.at_least else "≤"
    return f"{sign} {row.goal.limit:g}" + (f" {row.unit}" if row.goal.of == "ours" else "")
