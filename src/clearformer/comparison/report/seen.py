"""What each further token is worth: the loss against what a model has before it."""

from clearformer.comparison.report.drawing import Axis
from clearformer.comparison.report.lines import Line, line_chart
from clearformer.comparison.report.markup import Markup, joined, tag
from clearformer.comparison.report.scale import number_label
from clearformer.comparison.report.tables import Cell, folded, name_cell, table
from clearformer.comparison.report.view import View

BEGINNING = 4
"""Before so many tokens the loss is so high that the picture would show nothing else."""


def seen(view: View) -> Markup | None:
    """The picture and its table; None where nothing was measured."""
    found = view.reasons.seen
    if not found:
        return None
    lines = [
        Line(
            view.labels[each.name],
            view.colours[each.name],
            tuple(
                (float(last), bits)
                for last, bits in zip(each.last, each.bits, strict=True)
                if bits is not None and last >= min(BEGINNING, each.last[-1])
            ),
            marked=True,
        )
        for each in found
    ]
    cuts = sorted({cut for each in found for cut in zip(each.first, each.last, strict=True)})
    ticks = sorted({point[0] for each in lines for point in each.points})
    x = Axis(view.say("seen_axis"), powers=True, ticks=tuple(ticks), label=number_label)
    y = Axis(view.say("bits_axis"))
    how = view.say("seen_how", windows=found[0].windows)
    rows = []
    for each in found:
        known = dict(zip(zip(each.first, each.last, strict=True), each.bits, strict=True))
        cells = [known.get(cut) for cut in cuts]
        rows.append(
            [
                name_cell(view.labels[each.name], view.colours[each.name]),
                *[Cell(view.say("unknown") if b is None else f"{b:.3f}", b) for b in cells],
            ]
        )
    heads = [view.say("model"), *[_between(first, last) for first, last in cuts]]
    title = view.say("seen_figure")
    return joined(
        [
            tag("p", how, class_="how"),
            tag("figure", line_chart(lines, x, y, title, how), class_="alone"),
            folded(view.say("numbers"), table(title, heads, rows)),
        ]
    )


def _between(first: int, last: int) -> str:
    return f"{first}" if first == last else f"{first} … {last}"
