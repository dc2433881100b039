"""What attention looked at: by distance, and on one stretch of text."""

from dataclasses import replace

from clearformer.comparison.report.heat import heat
from clearformer.comparison.report.markup import Markup, joined, tag
from clearformer.comparison.report.strips import Strip, strips
from clearformer.comparison.report.tables import Cell, folded, name_cell, table
from clearformer.comparison.report.view import View
from clearformer.comparison.why.looking import Head, Looking


def looking(view: View) -> Markup | None:
    """For each model with attention its layers; None where there is none."""
    if not view.reasons.looking:
        return None
    return joined([_model(view, each) for each in view.reasons.looking])


def _model(view: View, found: Looking) -> Markup:
    shown = [_shown(view, found, head) for head in found.heads if head.shown is not None]
    how = view.say("looking_how", windows=found.windows, model=view.labels[found.name])
    title = view.say("looking_strip")
    return joined(
        [
            tag("p", how, class_="how"),
            tag("figure", tag("figcaption", title), _distances(view, found, title)),
            tag("div", *shown, class_="pair"),
            folded(view.say("numbers"), _table(view, found)),
        ]
    )


def _distances(view: View, found: Looking, title: str) -> Markup:
    rows = [
        Strip(
            f"{head.layer}.{head.head}",
            head.layer,
            head.by_distance,
            f"{head.distance:.1f}",
        )
        for head in found.heads
    ]
    rows[0] = replace(rows[0], label=view.say("looking_shown", layer=0, head=0))
    described = view.say("comma").join(f"{row.label} {row.note}" for row in rows)
    notes = view.say("mean_distance")
    return strips(rows, view.say("distance_axis"), notes, title, f"{notes}: {described}")


def _shown(view: View, found: Looking, head: Head) -> Markup:
    title = view.say("looking_shown", layer=head.layer, head=head.head)
    drawn = heat(found.tokens, found.tokens, head.shown or (), title, "".join(found.tokens))
    return tag("figure", tag("figcaption", title), drawn)


def _table(view: View, found: Looking) -> Markup:
    length = len(found.heads[0].by_distance)
    places = [place for place in (0, 1, 2, 4, 8, 16, 32, 64, 128) if place < length]
    rows = [
        [
            name_cell(view.say("looking_shown", layer=head.layer, head=head.head)),
            Cell(f"{head.distance:.1f}"),
            *[Cell(f"{head.by_distance[n]:.3f}", head.by_distance[n]) for n in places],
        ]
        for head in found.heads
    ]
    heads = [view.labels[found.name], view.say("mean_distance"), *map(str, places)]
    return table(f"{view.say('looking')} ({view.say('distance_axis')})", heads, rows)
