"""The textbook's table with a measured figure in every cell."""

from collections.abc import Sequence

from clearformer.comparison.lesson.table import COLUMNS, Figure, Lesson
from clearformer.comparison.lesson.words import about, heads, method, rows_of, said, summary
from clearformer.comparison.report.drawing import DASHES, Axis
from clearformer.comparison.report.lines import Line, line_chart
from clearformer.comparison.report.markup import Markup, joined, tag
from clearformer.comparison.report.view import View


def textbook(view: View) -> Markup | None:
    """The table, and how each column was measured; None where no lesson was asked for."""
    if view.comparison.lesson is None:
        return None
    lesson = Lesson.from_json(view.comparison.lesson)
    head = tag("tr", *[tag("th", text, scope="col") for text in heads(lesson, view.words)])
    body = [_row(view, lesson, row) for row in rows_of(lesson)]
    caption = tag("caption", view.say("lesson"))
    drawn = tag("table", caption, tag("thead", head), tag("tbody", *body), class_="main lesson")
    return joined(
        [
            tag("p", summary(lesson, view.words), class_="how"),
            tag("div", drawn, class_="scroll", tabindex="0", role="region",
                aria_label=view.say("lesson")),
            _recall(view, lesson),
            tag("ul", *[tag("li", how) for how in method(lesson, view.words)], class_="small"),
        ]
    )  # fmt: skip


def _row(view: View, lesson: Lesson, row: str) -> Markup:
    cells = [_cell(view, lesson.cells[row][column]) for column in COLUMNS]
    return tag(
        "tr",
        tag("th", view.say(f"lesson_{row}"), scope="row"),
        tag("td", view.say(f"claim_{row}")),
        *cells,
    )


def _cell(view: View, figures: Sequence[Figure]) -> Markup:
    """Figures one below the other, each with what it is of."""
    written = [
        tag(
            "span",
            _of(about(each, figures, view.words)),
            tag("strong", said(each, view.words),
                data_value=None if each.value is None else repr(each.value)),
        )
        for each in figures
    ]  # fmt: skip
    return tag("td", *written) if written else tag("td", view.say("unknown"))


def _of(name: str) -> Markup | None:
    return joined([tag("small", name), " "]) if name else None


def _recall(view: View, lesson: Lesson) -> Markup | None:
    """Recall against distance, of all models that were asked."""
    points: dict[str, list[tuple[float, float]]] = {}
    for row in rows_of(lesson):
        for each in lesson.cells[row]["remembers"]:
            if each.measure == "recall" and each.at is not None and each.value is not None:
                points.setdefault(each.model, []).append((float(each.at), each.value))
    if not points or len(lesson.distances) < 2:
        return None
    lines = [
        Line(model, 1 + number % (len(DASHES) - 1), known, marked=True)
        for number, (model, known) in enumerate(points.items())
    ]
    ends = [float(end) for end in (min(lesson.distances), max(lesson.distances))]
    if lesson.chance is not None:
        chance = [(end, lesson.chance) for end in ends]
        lines.append(Line(view.say("chance"), 0, chance, thin=True))
    x = Axis(view.say("back_axis"), powers=True, ticks=tuple(map(float, lesson.distances)))
    y = Axis(view.say("recall_axis"), low=0.0, high=1.04, label=lambda part: f"{100 * part:g} %")
    title = view.say("recalling_figure")
    drawn = line_chart(lines, x, y, title, view.say("recalling_how"))
    return tag("figure", tag("figcaption", title), drawn, class_="alone")
