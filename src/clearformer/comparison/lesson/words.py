"""The lesson in words: each cell as lines, and what was measured for each column."""

from collections.abc import Mapping, Sequence

from clearformer.comparison.lesson.table import COLUMNS, ROWS, Figure, Lesson
from clearformer.comparison.report.figures import WRITTEN, count, share, significant
from clearformer.explanation.lines import cell_width

OWN_WORDS = ("bits_per_symbol", "recall", "reversed")
"""Measures that the head of their column does not tell."""

WRITERS = {
    "bits_per_character": WRITTEN["bits_per_character"],
    "bits_per_symbol": WRITTEN["bits_per_character"],
    "recall": share,
    "reversed": share,
    "gradient": significant,
    "exponent": lambda value: f"{value:.2f}",
    "tokens_per_second": count,
}


def heads(lesson: Lesson, words: Mapping[str, str]) -> list[str]:
    """Of the columns."""
    return [words["model"], words["textbook"], *columns(lesson, words)]


def columns(lesson: Lesson, words: Mapping[str, str]) -> list[str]:
    """Of what is measured."""
    return [words[f"column_{each}"].format(back=_back(lesson)) for each in COLUMNS]


def _back(lesson: Lesson) -> int:
    """How many steps back the gradient is told."""
    backs = [each.at for cells in lesson.cells.values() for each in cells["reaches"]]
    return max((at for at in backs if at is not None), default=0)


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


def about(figure: Figure, others: Sequence[Figure], words: Mapping[str, str]) -> str:
    """What a figure is of, as far as neither its row nor its column says it.

    Args:
        figure: the one that is meant.
        others: those of the same cell.
        words: of the language.
    """
    name = words.get(f"of_{figure.model}", figure.model)
    parts = [name] if len({each.model for each in others}) > 1 else []
    if figure.measure in OWN_WORDS:
        parts.append(words[f"figure_{figure.measure}"].format(at=figure.at))
    return words["comma"].join(parts)


def method(lesson: Lesson, words: Mapping[str, str]) -> list[str]:
    """What was measured, how, and in how many minutes."""
    return [
        words[f"how_{column}"].format(text=lesson.text or words["unknown"], back=_back(lesson))
        for column in COLUMNS
    ]


def summary(lesson: Lesson, words: Mapping[str, str]) -> str:
    """The budget in a sentence."""
    seeds = words["seeds_many"].format(count=lesson.seeds)
    seconds = sorted(lesson.seconds.values())
    ends = dict.fromkeys(f"{each:.3g}" for each in (*seconds[:1], *seconds[-1:]))
    return words["lesson_how"].format(
        parameters=count(lesson.parameters),
        seconds=" … ".join(ends),
        seeds=seeds if lesson.seeds > 1 else words["seeds_one"],
        minutes=significant(lesson.minutes),
    )


def lines(lesson: Lesson, words: Mapping[str, str]) -> list[str]:
    """The table as text for a terminal: a block for each row of the textbook's table."""
    written = [summary(lesson, words), ""]
    for row in rows_of(lesson):
        written.append(f"{words[f'lesson_{row}']}: {words[f'claim_{row}']}")
        for column, head in zip(COLUMNS, columns(lesson, words), strict=True):
            written += _block(head, lesson.cells[row][column], words)
        written.append("")
    return [*written, *method(lesson, words)]


def _block(head: str, figures: Sequence[Figure], words: Mapping[str, str]) -> list[str]:
    """A column of a row: its name, then its figures, one a line."""
    values = [said(figure, words) for figure in figures] or [words["unknown"]]
    names = [about(figure, figures, words) for figure in figures] or [""]
    starts = [head, *[""] * (len(values) - 1)]
    return [
        f"  {_filled(start, 26)}{value:>22}  {name}".rstrip()
        for start, value, name in zip(starts, values, names, strict=True)
    ]


def _filled(text: str, width: int) -> str:
    """With blanks behind, so that it is as wide; a letter of East Asia is two wide."""
    return text + " " * max(width - cell_width(text), 1)
