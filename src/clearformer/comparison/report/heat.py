"""A picture of attention: a row for each query, a square for each key, darker for more weight."""

from collections.abc import Sequence

from clearformer.comparison.report.drawing import Frame, at, breadth, picture, words
from clearformer.comparison.report.markup import Markup, joined, tag

CELL = 13.0
"""Side of a square."""

SMALL = 0.76
"""Height of the letters of a token, as a share of that of others."""

SIGNS = {" ": "␣", "\n": "⏎", "\t": "⇥"}

FITTING = 3
"""Characters that have room below a square."""

LONGEST = 12
"""Characters of a token that are shown."""


def heat(
    queries: Sequence[str],
    keys: Sequence[str],
    weights: Sequence[Sequence[float]],
    title: str,
    description: str,
) -> Markup:
    """Keys from left to right, queries from top to bottom.

    Args:
        queries: the tokens that look.
        keys: the tokens that may be seen.
        weights: a row for each query; a row may end early, where no more keys are seen.
        title: of the picture.
        description: of the picture.
    """
    rows, columns = [shown(token) for token in queries], [shown(token) for token in keys]
    below = max(30.0, _room([name for name in columns if len(name) > FITTING]) + 16)
    left = max(30.0, _room(rows) + 12)
    width, height = CELL * len(columns), CELL * len(rows)
    frame = Frame(left + width + 36, 4 + height + below, left, 36, top=4, bottom=below)
    parts: list[Markup] = []
    for query, row in enumerate(weights):
        y = frame.top + CELL * query
        parts.append(words(left - 6, y + CELL - 3, rows[query], "end", "token"))
        parts.append(_squares(row, rows[query], columns, left, y))
    for key, name in enumerate(columns):
        parts.append(_below(name, left + CELL * (key + 0.5) - 0.5, frame.top + height))
    return picture(frame, title, description, *parts, class_="chart heat")


def shown(token: str) -> str:
    """A token short enough for its place; blanks as signs."""
    return "".join(SIGNS.get(c, c) for c in token)[:LONGEST]


def _squares(
    row: Sequence[float], query: str, columns: Sequence[str], left: float, y: float
) -> Markup:
    parts = []
    for key, weight in enumerate(row):
        square = tag(
            "rect",
            x=at(left + CELL * key),
            y=at(y),
            width=at(CELL - 1),
            height=at(CELL - 1),
            fill_opacity=f"{0.06 + 0.94 * min(weight, 1.0) ** 0.6:.2f}",
            class_="cell",
        )
        hint = tag("title", f"{query} → {columns[key]}: {weight:.3f}")
        parts.append(tag("g", square, hint) if weight >= 0.1 else square)
    return joined(parts)


def _below(name: str, middle: float, bottom: float) -> Markup:
    """The name of a key: across, or from top to bottom where it is long."""
    if len(name) <= FITTING:
        return words(middle, bottom + 12, name, "middle", "token")
    x, y = at(middle - 3), at(bottom + 5)
    turned = f"rotate(90 {x} {y})"
    return tag("text", name, x=x, y=y, transform=turned, text_anchor="start", class_="token")


def _room(names: Sequence[str]) -> float:
    return max((SMALL * breadth(name) * 1.1 for name in names), default=0.0)
