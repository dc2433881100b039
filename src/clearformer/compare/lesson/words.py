"""The lesson in words: each cell as lines, and what was measured for each column."""

from collections.abc import Mapping, Sequence

from clearformer.compare.lesson.table import COLUMNS, ROWS, Figure, Lesson
from clearformer.compare.report.figures import WRITTEN, count, share, significant

WRITERS = {
    "bits_per_character": WRITTEN["bits_per_character"],
    "bits_per_symbol": WRITTEN["bits_per_character"],
    "recall": share,
    "reversed": share,
    "gradient": significant,
    "exponent": lambda value: f"{value:.2f}",
    "tokens_per_second": count,
}


def heads(words: Mapping[str, str]) -> list[str]:
    """Of the columns."""
    return [words["model"], words["textbook"], *[words[f"column_{each}"] for each in COLUMNS]]


def rows_of(lesson: Lesson) -> list[str]:
    """Those of which anything was measured, in the textbook's order."""
    return [row for row in ROWS if row in lesson.cells]


def said(figure: Figure, words: Mapping[str, str]) -> str:
    """A figure with its interval, or a sign that there is none."""
    write = WRITERS[figure.measure]
    if figure.value is None:
        return words["unknown"]
    if figure.low is None or figure.high is None or figure.low == figure.high:
        return write(figure.value)
    return f"{write(figure.value)} ({write(figure.low)} … {write(figure.high)})"


def about(figure: Figure, words: Mapping[str, str]) -> str:
    """What a figure is of."""
    measure = words[f"figure_{figure.measure}"].format(at=figure.at)
    return f"{figure.model}{words['comma']}{measure}"


def method(lesson: Lesson, words: Mapping[str, str]) -> list[str]:
    """What was measured, how, and in how many minutes."""
    backs = {each.at for cells in lesson.cells.values() for each in cells["reaches"]}
    back = max((at for at in backs if at is not None), default=0)
    return [
        words[f"how_{column}"].format(text=lesson.text or words["unknown"], back=back)
        for column in COLUMNS
    ]


def summary(lesson: Lesson, words: Mapping[str, str]) -> str:
    """The budget in a sentence."""
    seeds = words["seeds_many"].format(count=lesson.seeds)
    return words["lesson_how"].format(
        parameters=count(lesson.parameters),
        seconds=significant(lesson.seconds),
        seeds=seeds if lesson.seeds > 1 else words["seeds_one"],
        minutes=significant(lesson.minutes),
    )


def lines(lesson: Lesson, words: Mapping[str, str]) -> list[str]:
    """The table as text for a terminal: a block for each row of the textbook's table."""
    written = [summary(lesson, words), ""]
    for row in rows_of(lesson):
        written.append(f"{words[f'lesson_{row}']}: {words[f'claim_{row}']}")
        for column in COLUMNS:
            written += _block(words[f"column_{column}"], lesson.cells[row][column], words)
        written.append("")
    return [*written, *method(lesson, words)]


def _block(head: str, figures: Sequence[Figure], words: Mapping[str, str]) -> list[str]:
    """A column of a row: its name, then its figures, one a line."""
    values = [said(figure, words) for figure in figures] or [words["unknown"]]
    names = [about(figure, words) for figure in figures] or [""]
    starts = [head, *[""] * (len(values) - 1)]
    return [
        f"  {start:<24}{value:>24}  {name}".rstrip()
        for start, value, name in zip(starts, values, names, strict=True)
    ]
