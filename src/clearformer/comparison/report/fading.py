"""What reaches back: gradients before and after training."""

from clearformer.comparison.report.drawing import Axis
from clearformer.comparison.report.figures import significant
from clearformer.comparison.report.lines import Line, line_chart
from clearformer.comparison.report.markup import Markup, joined, tag
from clearformer.comparison.report.tables import Cell, folded, name_cell, table
from clearformer.comparison.report.view import View
from clearformer.comparison.why.fading import TRACES, Fading

LOWEST = 1e-10
"""What is smaller leaves the picture: no training learns from it."""


def fading(view: View) -> Markup | None:
    """Two pictures and a table; None where nothing was measured."""
    found = view.reasons.fading
    if not found:
        return None
    pictures = [
        tag("figure", tag("figcaption", view.say(key)), _picture(view, fresh=fresh))
        for key, fresh in (("fading_fresh", True), ("fading_trained", False))
    ]
    return joined(
        [
            tag("p", view.say("fading_how", windows=found[0].windows), class_="how"),
            tag("div", *pictures, class_="pair"),
            folded(view.say("numbers"), _table(view)),
        ]
    )


def _picture(view: View, *, fresh: bool) -> Markup:
    lines = []
    for each in view.reasons.fading:
        shares = [(float(k), each.relative(k, fresh=fresh)) for k in range(1, each.reach + 1)]
        known = tuple((k, value) for k, value in shares if value)
        lines.append(Line(view.labels[each.name], view.colours[each.name], known))
    values = [value for each in lines for _, value in each.points]
    y = Axis(
        view.say("gradient_axis"),
        powers=True,
        low=max(LOWEST, min(values, default=LOWEST) / 2),
        high=2 * max(values, default=1.0),
    )
    x = Axis(view.say("back_axis"), ticks=_ticks(max(each.reach for each in view.reasons.fading)))
    title = view.say("fading_fresh" if fresh else "fading_trained")
    return line_chart(lines, x, y, title, view.say("fading_how", windows=_windows(view)))


def _ticks(reach: int) -> tuple[float, ...]:
    every = next(step for step in (1, 4, 16, 32, 64, 128, 256, 1024, reach) if reach / step <= 6)
    return (1.0, *map(float, range(every, reach + 1, every))) if every > 1 else (1.0, float(reach))


def _windows(view: View) -> int:
    return view.reasons.fading[0].windows


def _table(view: View) -> Markup:
    reach = max(each.reach for each in view.reasons.fading)
    backs = [back for back in TRACES if back <= reach]
    rows = [
        [
            name_cell(
                f"{view.labels[each.name]}{view.say('comma')}{view.say(key)}",
                view.colours[each.name],
            ),
            *[_cell(view, each, back, fresh) for back in backs],
        ]
        for each in view.reasons.fading
        for key, fresh in (("before", True), ("after", False))
    ]
    heads = [view.say("model"), *[view.say("steps_back", back=back) for back in backs]]
    return table(view.say("fading"), heads, rows)


def _cell(view: View, each: Fading, back: int, fresh: bool) -> Cell:
    value = each.relative(back, fresh=fresh)
    return Cell(view.say("unknown") if value is None else significant(value), value)
