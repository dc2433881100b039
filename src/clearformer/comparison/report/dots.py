"""A picture of means: a dot for each, the interval around it, and the single results beneath."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from clearformer.comparison.report.drawing import (
    WIDE,
    Axis,
    Frame,
    at,
    breadth,
    line,
    picture,
    words,
)
from clearformer.comparison.report.marks import mark
from clearformer.comparison.report.markup import Markup, joined, tag
from clearformer.comparison.report.scale import Scale, widened

ROW = 46.0
"""Height of a row."""


@dataclass(frozen=True)
class Dot:
    """One mean."""

    label: str
    colour: int
    mean: float
    low: float | None
    high: float | None
    single: tuple[float, ...]
    """The results that it is the mean of."""


@dataclass(frozen=True)
class Border:
    """A limit that is drawn across all rows."""

    label: str
    value: float


def dot_chart(
    dots: Sequence[Dot], axis: Axis, title: str, description: str,
    say: Callable[[float], str], borders: Sequence[Border] = (),
) -> Markup:  # fmt: skip
    """The picture twice: for a wide page, and for a narrow one."""
    return joined(
        [
            _drawn(dots, axis, title, description, say, borders, WIDE, "wide"),
            _drawn(dots, axis, title, description, say, borders, 340, "narrow"),
        ]
    )


def _drawn(
    dots: Sequence[Dot], axis: Axis, title: str, description: str,
    say: Callable[[float], str], borders: Sequence[Border], width: float, class_: str,
) -> Markup:  # fmt: skip
    narrow = class_ == "narrow"
    left = 16.0 if narrow else max(breadth(dot.label) for dot in dots) + 34
    right = max(breadth(say(dot.mean)) for dot in dots) + 20
    frame = Frame(width, 58 + ROW * len(dots), left, right, top=16 + 10 * bool(borders), bottom=42)
    values = [value for dot in dots for value in _ends(dot)] + [each.value for each in borders]
    low, high = widened(values)
    low = low if axis.low is None else max(axis.low, low)
    high = high if axis.high is None else min(axis.high, high)
    across = Scale(low, high, left, width - right)
    parts = [_ground(frame, across, axis), *[_border(each, across, frame) for each in borders]]
    for number, dot in enumerate(dots):
        parts.append(_row(dot, frame.top + ROW * (number + 0.5), across, frame, say, narrow))
    return picture(frame, title, description, *parts, class_=f"chart {class_}")


def _ends(dot: Dot) -> list[float]:
    found = [dot.mean, *dot.single]
    return found + [end for end in (dot.low, dot.high) if end is not None]


def _ground(frame: Frame, across: Scale, axis: Axis) -> Markup:
    left, right, top, bottom = frame.inner
    parts = [words(right, frame.height - 4, axis.title, "end", "name")]
    for value in across.ticks(max(int((right - left) / 90), 3)):
        place = across(value)
        parts += [
            line(place, top, place, bottom, "grid"),
            words(place, bottom + 17, axis.label(value), "middle"),
        ]
    return joined(parts)


def _border(border: Border, across: Scale, frame: Frame) -> Markup:
    _, right, top, bottom = frame.inner
    x = across(border.value)
    near_end = right - x < breadth(border.label) + 8
    return joined(
        [
            line(x, top - 8, x, bottom, "border"),
            words(x + (-6 if near_end else 6), top - 8, border.label,
                  "end" if near_end else "start", "note"),
        ]
    )  # fmt: skip


def _row(
    dot: Dot, y: float, across: Scale, frame: Frame, say: Callable[[float], str], narrow: bool
) -> Markup:
    parts: list[Markup] = []
    if narrow:
        parts.append(words(frame.left - 12, y - 12, dot.label, "start", f"series c{dot.colour}"))
    else:
        parts.append(words(frame.left - 18, y + 4, dot.label, "end", f"series c{dot.colour}"))
    single = [
        tag("circle", cx=at(across(value)), cy=at(y + 10), r=2.2, class_=f"single c{dot.colour}")
        for value in dot.single
        if len(dot.single) > 1
    ]
    if dot.low is not None and dot.high is not None and dot.low < dot.high:
        a, b = (across(min(max(end, across.low), across.high)) for end in (dot.low, dot.high))
        parts.append(line(a, y, b, y, f"interval c{dot.colour}"))
        parts += [line(end, y - 5, end, y + 5, f"interval c{dot.colour}") for end in (a, b)]
    parts += [*single, mark(dot.colour, across(dot.mean), y, 5.5)]
    right = frame.width - frame.right
    parts.append(words(right + 10, y + 4, say(dot.mean), "start", "value"))
    return joined(parts)
