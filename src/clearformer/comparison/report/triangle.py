"""A picture of attention: a row for each query, a square for each key, darker for more weight."""

from collections.abc import Sequence

from clearformer.comparison.report.drawing import Frame, at, picture, words
from clearformer.comparison.report.markup import Markup, tag

CELL = 13.0
"""Side of a square."""


def triangle(
    tokens: Sequence[str], weights: Sequence[Sequence[float]], title: str, description: str
) -> Markup:
    """Keys from left to right, queries from top to bottom; each sees itself and what is before."""
    names = [_name(token) for token in tokens]
    count = len(names)
    frame = Frame(CELL * count + 66, CELL * count + 34, left=30, right=36, top=4, bottom=30)
    parts: list[Markup] = []
    for query, row in enumerate(weights):
        y = frame.top + CELL * query
        parts.append(words(frame.left - 6, y + CELL - 3, names[query], "end", "token"))
        for key, weight in enumerate(row):
            hint = tag("title", f"{names[query]} → {names[key]}: {weight:.3f}")
            square = tag(
                "rect",
                x=at(frame.left + CELL * key),
                y=at(y),
                width=at(CELL - 1),
                height=at(CELL - 1),
                fill_opacity=f"{0.06 + 0.94 * min(weight, 1.0) ** 0.6:.2f}",
                class_="cell",
            )
            parts.append(tag("g", square, hint) if weight >= 0.1 else square)
    bottom = frame.top + CELL * count
    for key, name in enumerate(names):
        middle = frame.left + CELL * (key + 0.5) - 0.5
        parts.append(words(middle, bottom + 12, name, "middle", "token"))
    return picture(frame, title, description, *parts, class_="chart heat")


def _name(token: str) -> str:
    """A token short enough for its place; blanks as signs."""
    signs = {" ": "␣", "\n": "⏎", "\t": "⇥"}
    return "".join(signs.get(c, c) for c in token)[:3]
