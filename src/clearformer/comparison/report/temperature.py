"""What temperature does, and what the models write."""

from clearformer.comparison.report.drawing import Axis
from clearformer.comparison.report.lines import Line, line_chart
from clearformer.comparison.report.markup import Markup, joined, tag
from clearformer.comparison.report.tables import Cell, folded, name_cell, table
from clearformer.comparison.report.view import View
from clearformer.comparison.why.temperature import Temperature

USUAL = 0.8
"""The temperature at which the samples of all models are shown, or the nearest there is."""

COLD = 0.5
"""Below it the loss may rise beyond the picture."""

SHOWN = (0.2, 0.6, 1.0, 1.4, 2.0)
"""Temperatures at which one model's text is shown."""


def temperature(view: View) -> Markup | None:
    """Entropy and loss against temperature, and how one model's text changes; None without text."""
    found = view.reasons.temperature
    if not found:
        return None
    pictures = [
        tag("figure", tag("figcaption", view.say(f"temperature_{what}")), _picture(view, what))
        for what in ("entropy", "loss")
    ]
    ranked = view.comparison.ranked
    first = min(found, key=lambda each: ranked.index(each.name))
    return joined(
        [
            tag("p", view.say("temperature_how"), class_="how"),
            tag("div", *pictures, class_="pair"),
            folded(view.say("numbers"), _table(view)),
            tag("h3", view.say("temperature_texts", model=view.labels[first.name])),
            *[
                _sample(f"{heat:g}", first.prompt, text, None)
                for heat, text in zip(first.temperatures, first.samples, strict=True)
                if heat in SHOWN
            ],
        ]
    )


def samples(view: View) -> Markup | None:
    """A text of each model at the same temperature; None without text."""
    found = view.reasons.temperature
    if not found:
        return None
    heat = min(found[0].temperatures, key=lambda value: abs(value - USUAL))
    order = sorted(found, key=lambda each: view.comparison.ranked.index(each.name))
    return joined(
        [
            tag("p", view.say("samples_how", temperature=f"{heat:g}"), class_="how"),
            *[
                _sample(
                    view.labels[each.name],
                    each.prompt,
                    each.samples[each.temperatures.index(heat)],
                    view.colours[each.name],
                )
                for each in order
            ],
        ]
    )


def _sample(name: str, prompt: str, text: str, colour: int | None) -> Markup:
    key = None if colour is None else tag("span", class_=f"key k{colour}", aria_hidden="true")
    written = tag("blockquote", tag("span", prompt, class_="prompt"), text)
    return tag("div", tag("p", key, name, class_="by"), written, class_="sample")


def _values(each: Temperature, what: str) -> tuple[float | None, ...]:
    return each.entropy if what == "entropy" else each.loss


def _picture(view: View, what: str) -> Markup:
    lines = [
        Line(
            view.labels[each.name],
            view.colours[each.name],
            tuple(
                (heat, value)
                for heat, value in zip(each.temperatures, _values(each, what), strict=True)
                if value is not None
            ),
            marked=True,
        )
        for each in view.reasons.temperature
    ]
    warm = [value for each in lines for heat, value in each.points if heat >= COLD]
    entropy = what == "entropy"
    y = Axis(
        view.say("bits_axis"),
        low=0.0 if entropy else None,
        high=None if entropy else 1.1 * max(warm, default=1.0),
    )
    title = view.say(f"temperature_{what}")
    x = Axis(view.say("temperature_axis"))
    return line_chart(lines, x, y, title, view.say("temperature_how"))


def _table(view: View) -> Markup:
    heats = view.reasons.temperature[0].temperatures
    rows = []
    for what in ("entropy", "loss"):
        for each in view.reasons.temperature:
            name = f"{view.labels[each.name]}{view.say('comma')}{view.say(f'short_{what}')}"
            cells = [
                Cell(view.say("unknown") if value is None else f"{value:.3f}", value)
                for value in _values(each, what)
            ]
            rows.append([name_cell(name, view.colours[each.name]), *cells])
    caption = f"{view.say('temperature')} ({view.say('bits_axis')})"
    return table(caption, [view.say("model"), *[f"T = {heat:g}" for heat in heats]], rows)
