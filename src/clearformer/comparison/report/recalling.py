"""Who still knows what stood k steps ago, for several k."""

from clearformer.comparison.report.drawing import Axis
from clearformer.comparison.report.figures import share
from clearformer.comparison.report.lines import Line, line_chart
from clearformer.comparison.report.markup import Markup, joined, tag
from clearformer.comparison.report.tables import Cell, folded, name_cell, table
from clearformer.comparison.report.view import View


def recalling(view: View) -> Markup | None:
    """The picture and its table; None where recall was not compared at several distances."""
    found = view.reasons.recalling
    if not found:
        return None
    lines = [
        Line(
            view.labels[each.name],
            view.colours[each.name],
            tuple((float(point.distance), point.accuracy) for point in each.points),
            tuple(
                (float(point.distance), max(point.low, 0.0), min(point.high, 1.0))
                for point in each.points
                if point.low is not None and point.high is not None
            ),
            marked=True,
        )
        for each in found
    ]
    distances = sorted({point.distance for each in found for point in each.points})
    ends = tuple((float(end), found[0].chance) for end in (distances[0], distances[-1]))
    lines.append(Line(view.say("chance"), 0, ends, thin=True))
    x = Axis(view.say("back_axis"), powers=True, ticks=tuple(map(float, distances)))
    y = Axis(view.say("recall_axis"), low=0.0, high=1.04, label=lambda p: f"{100 * p:g} %")
    title = view.say("recalling_figure")
    drawn = line_chart(lines, x, y, title, view.say("recalling_how"))
    rows = []
    for each in found:
        cells = [each.at(distance) for distance in distances]
        rows.append(
            [
                name_cell(view.labels[each.name], view.colours[each.name]),
                *[
                    Cell(share(point.accuracy), point.accuracy)
                    if point else Cell(view.say("unknown"))
                    for point in cells
                ],
            ]
        )  # fmt: skip
    heads = [view.say("model"), *[view.say("steps_back", back=k) for k in distances]]
    return joined(
        [
            tag("p", view.say("recalling_how"), class_="how"),
            tag("figure", drawn, class_="alone"),
            folded(view.say("numbers"), table(title, heads, rows)),
        ]
    )
