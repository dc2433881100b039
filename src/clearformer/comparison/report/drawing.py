"""What every picture has in common: frame, axes, and labels that do not lie on each other."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from unicodedata import east_asian_width

from clearformer.comparison.report.markup import Markup, joined, tag
from clearformer.comparison.report.scale import Scale, number_label

WIDE = 760.0
"""Units of a picture that takes the whole width: few, so that its letters stay large."""

FONT = 13.0
"""Height of the letters, in units of the picture."""

LINE = 15.0
"""Distance of two labels, one below the other."""

DASHES = ("2 3", None, "8 3", "8 3 2 3", None, "3 2", "12 4", "5 2 1 2")
"""How the line of each colour is broken, so that it can be told without colours."""

WIDTHS = (2, 2, 2, 2, 3, 2, 2, 2)

Label = Callable[[float], str]


@dataclass(frozen=True)
class Axis:
    """How the numbers of one direction are shown."""

    title: str
    """With the unit."""
    powers: bool = False
    low: float | None = None
    """Where the axis begins; None for what the numbers need."""
    high: float | None = None
    ticks: tuple[float, ...] | None = None
    """Numbers that are written at it; None for round ones."""
    label: Label = number_label


@dataclass(frozen=True)
class Frame:
    """The field in which numbers are drawn, within a picture."""

    width: float
    height: float
    left: float
    right: float
    top: float = 30.0
    bottom: float = 42.0

    @property
    def inner(self) -> tuple[float, float, float, float]:
        """Left, right, top and bottom of the field."""
        return self.left, self.width - self.right, self.top, self.height - self.bottom


def picture(frame: Frame, title: str, description: str, *content: Markup, class_: str) -> Markup:
    """An SVG that says in words what it shows."""
    return tag(
        "svg",
        tag("title", title),
        tag("desc", description),
        *content,
        viewBox=f"0 0 {frame.width:g} {frame.height:g}",
        role="img",
        aria_label=f"{title}. {description}",
        class_=class_,
        style=f"max-width:{frame.width * 1.25:g}px",
    )


def axes(frame: Frame, across: Scale, up: Scale, x: Axis, y: Axis) -> Markup:
    """Lines for the numbers of y, marks for those of x, and what they are."""
    left, right, _, bottom = frame.inner
    parts: list[Markup] = []
    for value in y.ticks or up.ticks(5 if frame.height < 400 else 7):
        place = up(value)
        parts += [
            line(left, place, right, place, "grid"),
            words(left - 7, place + 4, y.label(value), "end"),
        ]
    for value in _apart(x.ticks or across.ticks(max(int((right - left) / 75), 3)), across, x.label):
        place = across(value)
        parts += [
            line(place, bottom, place, bottom + 5, "tick"),
            words(place, bottom + 19, x.label(value), "middle"),
        ]
    parts += [
        line(left, bottom, right, bottom, "axis"),
        words(4, 14, y.title, "start", "name"),
        words(right, frame.height - 4, x.title, "end", "name"),
    ]
    return joined(parts)


def line(x1: float, y1: float, x2: float, y2: float, class_: str) -> Markup:
    """A straight line."""
    return tag("line", x1=at(x1), y1=at(y1), x2=at(x2), y2=at(y2), class_=class_)


def words(x: float, y: float, text: str, anchor: str = "start", class_: str = "label") -> Markup:
    """A text in a picture."""
    return tag("text", text, x=at(x), y=at(y), text_anchor=anchor, class_=class_)


def at(value: float) -> str:
    """A place, to a tenth of a unit."""
    return f"{value:.1f}".removesuffix(".0")


def breadth(text: str) -> float:
    """About how wide a text is."""
    return sum(FONT if east_asian_width(c) in "WF" else 0.56 * FONT for c in text)


def spread_out(places: Sequence[float], top: float, bottom: float) -> list[float]:
    """Places of labels, moved as little as they must so that none lies on another."""
    order = sorted(range(len(places)), key=lambda number: places[number])
    moved = [min(max(places[number], top), bottom) for number in order]
    for number in range(1, len(moved)):
        moved[number] = max(moved[number], moved[number - 1] + LINE)
    if moved and moved[-1] > bottom:
        moved[-1] = bottom
        for number in range(len(moved) - 2, -1, -1):
            moved[number] = min(moved[number], moved[number + 1] - LINE)
    return [moved[order.index(number)] for number in range(len(places))]


def _apart(values: Sequence[float], scale: Scale, label: Label) -> list[float]:
    """Those whose labels have room, the first one among them."""
    kept: list[float] = []
    for value in values:
        if not kept:
            kept.append(value)
            continue
        room = (breadth(label(value)) + breadth(label(kept[-1]))) / 2 + 8
        if scale(value) - scale(kept[-1]) >= room:
            kept.append(value)
    return kept
