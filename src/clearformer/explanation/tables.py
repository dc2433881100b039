"""Small tables of numbers that say what they leave out."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite, isnan

import numpy as np

from clearformer.explanation.lines import (
    Line,
    Segment,
    Style,
    cell_width,
    left,
    right,
    shortened,
)

INDENT = "    "
TABLE_INDENT = INDENT + "  "
MOST_TOKENS = 16
"""Rows or columns of tokens in one table; the rest is left out, and that is said."""
SUM = 8
"""Columns of the terminal for the sum of a row."""
NARROWEST_COLUMN = 2
"""A mark and the space before it."""
SLACK = 4
"""So few rows are not worth leaving out."""
LONGEST_LABEL = 12
MASKED = "·"

Picked = tuple[int | None, ...]
"""Which rows or columns are shown, in order; None where some are left out."""


@dataclass(frozen=True)
class Table:
    """Numbers with a label at each row and each column."""

    rows: Sequence[str]
    columns: Sequence[str]
    values: np.ndarray
    """(row, column)"""
    masked: np.ndarray | None = None
    """(row, column) True where a cell is not allowed to look, and shows a mark."""
    sums: bool = False
    """Whether a last column adds up each row."""
    strong: bool = False
    """Whether the largest number of each row stands out."""
    axis: str = ""
    """The name of the axis that the columns count."""
    most_rows: int = MOST_TOKENS
    column_order: str = "ends"
    """Which columns stay when not all fit: those at both `ends`, or those from the `start`."""


def table_lines(table: Table, width: int) -> list[Line]:
    """The table in at most `width` columns of the terminal."""
    return _Layout(table, width).lines()


def number(value: float) -> str:
    """Three decimals, or four digits and an exponent where that would be too wide."""
    if not isfinite(value):
        return "nan" if isnan(value) else "∞" if value > 0 else "−∞"
    text = f"{value:.3f}" if abs(value) < 100_000 else f"{value:.3g}"
    return "0.000" if text == "-0.000" else text


def pick(count: int, most: int, order: str = "ends") -> Picked:
    """Indices to show of `count`: all, or the first ones, or the first and (twice as many) last."""
    if count <= most:
        return tuple(range(count))
    if order == "start" or most < 3:
        return (*range(max(most, 1)), None)
    first = most // 3
    return (*range(first), None, *range(count - (most - first), count))


class _Layout:
    def __init__(self, table: Table, width: int):
        self.table = table
        rows = len(table.rows)
        self.row_picks = pick(rows, rows if rows <= table.most_rows + SLACK else table.most_rows)
        self.labels = [self._row_label(i) for i in self.row_picks]
        self.texts: dict[int, dict[int, str]] = {}
        self.corner = f"{table.axis} →" if table.axis else ""
        labels = (self._row_label(row) for row in self._shown_rows())
        self.label_width = max(cell_width(self.corner), *map(cell_width, labels))
        self._fit_columns(width - len(TABLE_INDENT) - self.label_width)

    def _fit_columns(self, room: int) -> None:
        """Finds the most columns that fit, with two spaces between them or else one."""
        table = self.table
        sums = SUM if table.sums else 0
        most = MOST_TOKENS if table.column_order == "ends" else len(table.columns)
        most = min(most, max(room // NARROWEST_COLUMN, 1), len(table.columns))
        while True:
            picks = pick(len(table.columns), most, table.column_order)
            shown = [column for column in picks if column is not None]
            self.cell = max(1, *map(self._column_width, shown))
            gap = len(self._gap_label(len(shown))) if None in picks else 0
            for self.between in (2, 1):
                taken = len(shown) * (self.cell + self.between) + gap + sums
                if taken <= room or (most == 1 and self.between == 1):
                    self.column_picks = picks
                    self.gap_label = self._gap_label(len(shown))
                    return
            most -= 1

    def _column_width(self, column: int) -> int:
        if column not in self.texts:
            self.texts[column] = self._texts(column)
        numbers = map(len, self.texts[column].values())
        return max(cell_width(self._column_label(column)), *numbers, 0)

    def lines(self) -> list[Line]:
        head = [Segment(TABLE_INDENT + left(self.corner, self.label_width), "faint")]
        head += [
            Segment(" " * self.between + right(self._column_label(c), self.cell), "label")
            if c is not None
            else Segment(self.gap_label, "note")
            for c in self.column_picks
        ]
        if self.table.sums:
            head.append(Segment(right("sum", SUM), "faint"))
        return [tuple(head), *(self._row(r) for r in range(len(self.row_picks)))]

    def _row(self, place: int) -> Line:
        row = self.row_picks[place]
        if row is None:
            return (Segment(TABLE_INDENT + self.labels[place], "note"),)
        cells = [
            Segment(TABLE_INDENT),
            Segment(left(self.labels[place], self.label_width), "label"),
        ]
        highest = self._highest(row)
        for column in self.column_picks:
            if column is None:
                cells.append(Segment(right("…", len(self.gap_label)), "faint"))
                continue
            text = self.texts[column][row]
            style: Style = "strong" if column == highest else "number"
            style = "faint" if text == MASKED else style
            cells.append(Segment(" " * self.between + text.rjust(self.cell), style))
        if self.table.sums:
            total = float(np.sum(self.table.values[row], dtype=np.float64))
            cells.append(Segment(right(number(total), SUM), "faint"))
        return tuple(cells)

    def _highest(self, row: int) -> int | None:
        if not self.table.strong:
            return None
        values = np.where(np.isnan(self.table.values[row]), -np.inf, self.table.values[row])
        return int(values.argmax())

    def _texts(self, column: int) -> dict[int, str]:
        """What stands in a column, by row."""
        masked, values = self.table.masked, self.table.values[:, column].tolist()
        return {
            row: MASKED if masked is not None and masked[row, column] else number(values[row])
            for row in self._shown_rows()
        }

    def _row_label(self, row: int | None) -> str:
        if row is None:
            left_out = len(self.table.rows) - sum(i is not None for i in self.row_picks)
            return f"… {left_out} more"
        return shortened(self.table.rows[row], LONGEST_LABEL)

    def _column_label(self, column: int) -> str:
        return shortened(self.table.columns[column], LONGEST_LABEL - 2)

    def _shown_rows(self) -> list[int]:
        return [row for row in self.row_picks if row is not None]

    def _gap_label(self, shown: int) -> str:
        return f" …{len(self.table.columns) - shown} more"
