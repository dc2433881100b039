"""A picture of lines, each with its name where it ends."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import exp, log

from clearformer.comparison.report.drawing import (
    DASHES,
    WIDTHS,
    Axis,
    Frame,
    at,
    axes,
    breadth,
    line,
    picture,
    spread_out,
    words,
)
from clearformer.comparison.report.marks import mark
from clearformer.comparison.report.markup import Markup, joined, tag
from clearformer.comparison.report.scale import Scale, widened

Points = Sequence[tuple[float, float]]


@dataclass(frozen=True)
class Line:
    """One line."""

    label: str
    colour: int
    """Which colour, dash and mark."""
    points: Points
    band: Sequence[tuple[float, float, float]] = ()
    """(x, low, high): what the line may vary by."""
    marked: bool = False
    """Whether each point has a mark."""
    thin: bool = False
    """Of something beside the matter, such as a line that was fitted."""


def line_chart(lines: Sequence[Line], x: Axis, y: Axis, title: str, description: str) -> Markup:
    """The picture twice: for a wide page, and for a narrow one."""
    return joined(
        [
            _drawn(lines, x, y, title, description, 520, 340, "wide"),
            _drawn(lines, x, y, title, description, 340, 300, "narrow"),
        ]
    )


def _drawn(
    lines: Sequence[Line], x: Axis, y: Axis, title: str, description: str,
    width: float, height: float, class_: str,
) -> Markup:  # fmt: skip
    room = max((breadth(each.label) for each in lines), default=0.0) + 16
    frame = Frame(width, height, left=48, right=min(room, width * 0.4))
    left, right, top, bottom = frame.inner
    across = _scale([p[0] for each in lines for p in each.points], x, left, right, share=0.0)
    values = [p[1] for each in lines for p in each.points]
    values += [end for each in lines for p in each.band for end in p[1:]]
    up = _scale(values, y, bottom, top, share=0.06)
    within = [(each, inside(each.points, across, up)) for each in lines]
    parts = [axes(frame, across, up, x, y)]
    parts += [_band(each, across, up) for each in lines if each.band]
    parts += [_line(each, points, across, up) for each, points in within if points]
    parts.append(_names([pair for pair in within if pair[1]], across, up, frame))
    return picture(frame, title, description, *parts, class_=f"chart {class_}")


def inside(points: Points, across: Scale, up: Scale) -> list[tuple[float, float]]:
    """The points within both scales, and where a line leaves the one of y."""
    kept: list[tuple[float, float]] = []
    seen = [p for p in points if across.low <= p[0] <= across.high and (not up.powers or p[1] > 0)]
    for before, point in pairwise([*seen[:1], *seen]):
        here, there = _within(before[1], up), _within(point[1], up)
        if here != there:
            kept.append(_crossing(before, point, up))
        if there:
            kept.append(point)
    return kept


def _within(value: float, scale: Scale) -> bool:
    return scale.low <= value <= scale.high


def _crossing(a: tuple[float, float], b: tuple[float, float], up: Scale) -> tuple[float, float]:
    """Where the straight line between two points crosses the end of a scale."""
    outside = b if _within(a[1], up) else a
    edge = up.low if outside[1] < up.low else up.high
    bend = log if up.powers else float
    share = (bend(edge) - bend(a[1])) / (bend(b[1]) - bend(a[1]))
    return a[0] + share * (b[0] - a[0]), edge


def _scale(values: Sequence[float], axis: Axis, start: float, end: float, share: float) -> Scale:
    usable = [value for value in values if value > 0] if axis.powers else list(values)
    usable = usable or [1.0, 10.0]
    low, high = min(usable), max(usable)
    if axis.powers and (share or low == high):
        low, high = map(exp, widened([log(low), log(high)], share))
    elif share or low == high:
        low, high = widened([low, high], share)
    low = low if axis.low is None else axis.low
    high = high if axis.high is None else axis.high
    return Scale(low, high if high > low else low + 1, start, end, axis.powers)


def _line(each: Line, points: Points, across: Scale, up: Scale) -> Markup:
    path = " ".join(f"{at(across(px))},{at(up(py))}" for px, py in points)
    drawn = tag(
        "polyline",
        points=path,
        class_=f"line c{each.colour}",
        stroke_dasharray="1 4" if each.thin else DASHES[each.colour],
        stroke_width=1.2 if each.thin else WIDTHS[each.colour],
    )
    if not each.marked:
        return drawn
    return joined([drawn, *[mark(each.colour, across(px), up(py)) for px, py in points]])


def _band(each: Line, across: Scale, up: Scale) -> Markup:
    def place(px: float, py: float) -> str:
        return f"{at(across(px))},{at(up(min(max(py, up.low), up.high)))}"

    shown = [p for p in each.band if across.low <= p[0] <= across.high]
    there = [place(px, low) for px, low, _ in shown]
    back = [place(px, high) for px, _, high in reversed(shown)]
    return tag("polygon", points=" ".join(there + back), class_=f"band c{each.colour}")


def _names(
    within: Sequence[tuple[Line, list[tuple[float, float]]]],
    across: Scale,
    up: Scale,
    frame: Frame,
) -> Markup:
    """The name of each line at its end; a thin line leads to one that had to move."""
    named = [(each, points) for each, points in within if each.label]
    ends = [(across(points[-1][0]), up(points[-1][1])) for _, points in named]
    places = spread_out([y for _, y in ends], frame.top + 6, frame.height - frame.bottom - 4)
    parts: list[Markup] = []
    right = frame.width - frame.right
    for (each, _), (x, y), place in zip(named, ends, places, strict=True):
        if abs(place - y) > 3 or right - x > 3:
            parts.append(line(x + 3, y, right + 7, place, f"leader c{each.colour}"))
        parts.append(words(right + 9, place + 4, each.label, "start", f"series c{each.colour}"))
    return joined(parts)
