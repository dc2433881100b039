"""A picture of many rows of weights: each row a strip, the darker the more."""

from collections.abc import Sequence
from dataclasses import dataclass

from clearformer.comparison.report.drawing import WIDE, Frame, at, breadth, line, picture, words
from clearformer.comparison.report.markup import Markup, joined, tag

ROW, GAP = 17.0, 10.0
"""Height of a strip, and the distance between two groups of them."""

COLUMNS = 64
"""Squares in a strip at most; where there are more numbers, each square is the mean of several."""


@dataclass(frozen=True)
class Strip:
    """One row."""

    label: str
    group: int
    """Rows of a group stand together."""
    weights: tuple[float, ...]
    note: str
    """What is written at its end."""


def strips(rows: Sequence[Strip], axis: str, notes: str, title: str, description: str) -> Markup:
    """The picture twice: for a wide page, and for a narrow one.

    Args:
        rows: all of one length.
        axis: what is counted from left to right, from 0.
        notes: what the notes are.
        title: of the picture.
        description: of the picture.
    """
    return joined(
        [
            _drawn(rows, axis, notes, title, description, WIDE, "wide"),
            _drawn(rows, axis, notes, title, description, 340, "narrow"),
        ]
    )


def _drawn(
    rows: Sequence[Strip], axis: str, notes: str, title: str, description: str,
    width: float, class_: str,
) -> Markup:  # fmt: skip
    left = max(breadth(row.label) for row in rows) + 12
    right = max(breadth(row.note) for row in rows) + 14
    groups = len({row.group for row in rows})
    height = ROW * len(rows) + GAP * groups + 60
    frame = Frame(width, height, left, right, top=24, bottom=36)
    each = -(-len(rows[0].weights) // COLUMNS)
    side = (width - left - right) / -(-len(rows[0].weights) // each)
    most = max(max(_merged(row.weights, each)) for row in rows) or 1.0
    parts, y, group = [words(width - 4, 14, notes, "end", "name")], frame.top, rows[0].group
    for row in rows:
        y += GAP * (row.group != group)
        group = row.group
        parts += [
            words(left - 8, y + ROW - 5, row.label, "end"),
            words(width - right + 8, y + ROW - 5, row.note),
            *_squares(_merged(row.weights, each), left, y, side, most),
        ]
        y += ROW
    parts.append(_axis(frame, axis, y + 4, side / each, len(row.weights)))
    return picture(frame, title, description, *parts, class_=f"chart {class_}")


def _squares(
    weights: Sequence[float], left: float, y: float, side: float, most: float
) -> list[Markup]:
    return [
        tag(
            "rect",
            x=at(left + side * number),
            y=at(y),
            width=at(max(side - 0.7, 0.8)),
            height=at(ROW - 2),
            fill_opacity=f"{0.04 + 0.96 * (weight / most) ** 0.7:.2f}",
            class_="cell",
        )
        for number, weight in enumerate(weights)
    ]


def _merged(weights: Sequence[float], each: int) -> list[float]:
    """The means of so many neighbours each."""
    parts = [weights[start : start + each] for start in range(0, len(weights), each)]
    return [sum(part) / len(part) for part in parts]


def _axis(frame: Frame, title: str, y: float, step: float, count: int) -> Markup:
    every = next(step for step in (1, 2, 4, 8, 16, 32, 64, 128, count) if count / step <= 8)
    parts = [words(frame.width - frame.right, y + 34, title, "end", "name")]
    for number in range(0, count, every):
        x = frame.left + (number + 0.5) * step
        parts += [line(x, y - 2, x, y + 3, "tick"), words(x, y + 17, str(number), "middle")]
    return joined(parts)
