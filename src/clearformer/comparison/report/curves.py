"""How the models learned: loss against tokens and against seconds."""

from collections.abc import Mapping, Sequence

import numpy as np

from clearformer.comparison.document import Point
from clearformer.comparison.report.drawing import Axis
from clearformer.comparison.report.figures import WRITTEN, count
from clearformer.comparison.report.lines import Line, line_chart
from clearformer.comparison.report.markup import Markup, joined, tag
from clearformer.comparison.report.scale import count_label
from clearformer.comparison.report.tables import Cell, folded, name_cell, table
from clearformer.comparison.report.view import View

POINTS = 80
"""Places at which the seeds of a model are compared."""

STEEP = 0.08
"""Share of the way at the beginning that is steeper than the picture is high."""


def curves(view: View) -> Markup | None:
    """Both pictures and a table; None where nothing was learned step by step."""
    if not view.comparison.curves:
        return None
    pictures = [
        tag("figure", tag("figcaption", view.say(f"curves_{measure}")), _picture(view, measure))
        for measure in ("tokens", "seconds")
    ]
    return joined(
        [
            tag("p", view.say("curves_how"), class_="how"),
            tag("div", *pictures, class_="pair"),
            folded(view.say("numbers"), _table(view)),
        ]
    )


def _picture(view: View, measure: str) -> Markup:
    lines = [
        _line(view.labels[name], view.colours[name], seeds, measure)
        for name, seeds in view.comparison.curves.items()
    ]
    top = max(_height(each) for each in lines)
    x = Axis(view.say(f"{measure}_axis"), low=0.0, label=count_label)
    y = Axis(view.say("loss_axis"), high=top)
    title = view.say(f"curves_{measure}")
    return line_chart(lines, x, y, title, view.say("curves_how"))


def _line(label: str, colour: int, seeds: Mapping[int, Sequence[Point]], measure: str) -> Line:
    """The mean over seeds, and from the lowest to the highest.

    Seeds are compared at equal shares of their way, so that none is cut where a faster one ended.
    """
    known = [points for points in seeds.values() if points]
    across = [np.array([getattr(point, measure) for point in points]) for points in known]
    losses = [np.array([point.loss for point in points]) for points in known]
    ways = [np.linspace(each[0], each[-1], POINTS) for each in across]
    values = np.array([np.interp(*each) for each in zip(ways, across, losses, strict=True)])
    places, mean = np.mean(ways, axis=0), values.mean(0)
    low, high = values.min(0), values.max(0)
    band = tuple(zip(*(map(float, each) for each in (places, low, high)), strict=True))
    points = tuple(zip(map(float, places), map(float, mean), strict=True))
    return Line(label, colour, points, band if len(known) > 1 else ())


def _height(line: Line) -> float:
    return line.points[round(STEEP * (len(line.points) - 1))][1]


def _table(view: View) -> Markup:
    rows = []
    for name, seeds in view.comparison.curves.items():
        for seed, points in seeds.items():
            last = points[-1]
            rows.append(
                [
                    name_cell(view.labels[name], view.colours[name]),
                    Cell(str(seed), seed),
                    Cell(count(last.tokens), last.tokens),
                    Cell(WRITTEN["seconds"](last.seconds), last.seconds),
                    Cell(WRITTEN["loss"](last.loss), last.loss),
                ]
            )
    heads = ["model", "seed", "tokens_axis", "seconds_axis", "final_loss"]
    return table(view.say("curves"), [view.say(head) for head in heads], rows)
