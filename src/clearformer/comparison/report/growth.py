"""What length costs: the time of a step against the length of the sequence."""

from collections.abc import Sequence

from clearformer.comparison.report.drawing import Axis
from clearformer.comparison.report.figures import significant
from clearformer.comparison.report.lines import Line, line_chart
from clearformer.comparison.report.markup import Markup, joined, tag
from clearformer.comparison.report.tables import Cell, folded, name_cell, table
from clearformer.comparison.report.view import View
from clearformer.comparison.why.growth import Growth
from clearformer.comparison.why.line import power_through

LENGTHS = (64.0, 128.0, 256.0, 512.0, 1024.0, 2048.0, 4096.0)
"""Written at the axis."""


def growth(view: View) -> Markup | None:
    """Whole models, attention alone, and the exponents; None where nothing was measured."""
    found, alone = view.reasons.growth, view.reasons.attention
    if not found:
        return None
    pictures = [("growth_models", found)] + ([("growth_attention", (alone,))] if alone else [])
    drawn = [
        tag("figure", tag("figcaption", view.say(key)), _picture(view, key, of))
        for key, of in pictures
    ]
    how = view.say("growth_how", fitted=max(each.fitted for each in found))
    square = _on_the_square(view, alone) if alone else None
    return joined(
        [
            tag("p", how, class_="how"),
            tag("p", square, class_="how") if square else None,
            tag("div", *drawn, class_="pair"),
            _exponents(view),
            folded(view.say("numbers"), _table(view)),
        ]
    )


def _on_the_square(view: View, alone: Growth) -> str:
    """What was measured of attention alone, and no more than its interval shows."""
    exponent = f"{alone.exponent:.2f}"
    if alone.low is None or alone.high is None:
        return view.say("growth_unsure", exponent=exponent)
    key = "growth_less" if alone.high < 2 else "growth_more" if alone.low > 2 else "growth_square"
    return view.say(key, exponent=exponent, low=f"{alone.low:.2f}", high=f"{alone.high:.2f}")


def _all(view: View) -> list[Growth]:
    alone = view.reasons.attention
    return [*view.reasons.growth, *([alone] if alone else [])]


def _label(view: View, each: Growth) -> str:
    return view.labels.get(each.name, view.say("attention_alone"))


def _colour(view: View, each: Growth) -> int:
    """Attention alone has the colour of the first model with attention."""
    attending = [looking.name for looking in view.reasons.looking]
    name = each.name if each.name in view.colours else (attending or [""])[0]
    return view.colours.get(name, 0)


def _picture(view: View, key: str, found: Sequence[Growth]) -> Markup:
    lines: list[Line] = []
    for each in found:
        colour = _colour(view, each)
        known = [(float(n), s) for n, s in zip(each.lengths, each.seconds, strict=True) if s]
        label = f"{_label(view, each)} {each.exponent:.2f}"
        upper = known[-each.fitted :]
        fitted = power_through([n for n, _ in upper], [s for _, s in upper])
        ends = tuple((n, fitted.factor * n**fitted.exponent) for n in (upper[0][0], upper[-1][0]))
        lines += [Line(label, colour, tuple(known), marked=True), Line("", colour, ends, thin=True)]
    shown = {length for each in found for length in each.lengths}
    ticks = tuple(n for n in LENGTHS if min(shown) <= n <= max(shown))
    x = Axis(view.say("length_axis"), powers=True, ticks=ticks, label=lambda n: f"{n:g}")
    y = Axis(view.say("step_axis"), powers=True)
    described = view.say("comma").join(each.label for each in lines if each.label)
    return line_chart(lines, x, y, view.say(key), f"{view.say('exponent')}: {described}")


def _exponents(view: View) -> Markup:
    rows = []
    for each in _all(view):
        interval = (
            view.say("unknown")
            if each.low is None or each.high is None
            else f"{each.low:.2f} … {each.high:.2f}"
        )
        longest = each.seconds[-1]
        rows.append(
            [
                name_cell(_label(view, each), _colour(view, each)),
                Cell(f"{each.exponent:.2f}", each.exponent, strong=True),
                Cell(interval),
                Cell(view.say("up_to", length=f"{each.lengths[-1]:,}")),
                Cell(f"{significant(longest)} s" if longest else view.say("unknown"), longest),
            ]
        )
    heads = [view.say(key) for key in ("model", "exponent", "interval", "length_axis", "step_axis")]
    return table(view.say("growth"), heads, rows)


def _table(view: View) -> Markup:
    lengths = sorted({length for each in _all(view) for length in each.lengths})
    rows = []
    for each in _all(view):
        known = dict(zip(each.lengths, each.seconds, strict=True))
        cells = [known.get(length) for length in lengths]
        rows.append(
            [
                name_cell(_label(view, each), _colour(view, each)),
                *[Cell(significant(s) if s else view.say("unknown"), s) for s in cells],
            ]
        )
    heads = [view.say("model"), *[f"{length:,}" for length in lengths]]
    return table(f"{view.say('growth')} ({view.say('step_axis')})", heads, rows)
