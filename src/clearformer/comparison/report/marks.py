"""Marks of points: each colour has a shape of its own."""

from math import cos, pi, sin

from clearformer.comparison.report.drawing import at
from clearformer.comparison.report.markup import Markup, tag

CORNERS = (0, 0, 4, 3, 4, 5, 6, 3)
"""Corners of each shape; 0 for a disc."""

TURNS = (0.0, 0.0, 0.125, 0.0, 0.0, 0.0, 0.0, 0.5)
"""How far each is turned, as a share of a whole turn."""


def mark(colour: int, x: float, y: float, size: float = 3.6, title: str | None = None) -> Markup:
    """A point in the shape that goes with a colour."""
    hint = None if title is None else tag("title", title)
    class_ = f"mark c{colour}"
    if not CORNERS[colour]:
        return Markup(
            tag("g", tag("circle", cx=at(x), cy=at(y), r=size, class_=class_), hint)
            if hint
            else tag("circle", cx=at(x), cy=at(y), r=size, class_=class_)
        )
    corners = [
        (turn / CORNERS[colour] + TURNS[colour] - 0.25) * 2 * pi for turn in range(CORNERS[colour])
    ]
    wide = size * 1.25
    path = " ".join(f"{at(x + wide * cos(a))},{at(y + wide * sin(a))}" for a in corners)
    drawn = tag("polygon", points=path, class_=class_)
    return tag("g", drawn, hint) if hint else drawn
