"""Tables: each number as a person reads it, and beside it as the document has it."""

from collections.abc import Sequence
from dataclasses import dataclass

from clearformer.comparison.report.markup import Markup, tag


@dataclass(frozen=True)
class Cell:
    """One cell."""

    text: str
    value: float | None = None
    """The number in full, for programs; None where it is no number."""
    strong: bool = False
    colour: int | None = None
    """Of the mark before a model's name."""
    beneath: str | None = None
    """What stands below it, in small type."""


def table(
    caption: str, heads: Sequence[str], rows: Sequence[Sequence[Cell]], *, class_: str = ""
) -> Markup:
    """A table whose first column names what each row is of; wide ones scroll by themselves."""
    head = tag("tr", *[tag("th", text, scope="col") for text in heads])
    body = [tag("tr", *[_cell(cell, number) for number, cell in enumerate(row)]) for row in rows]
    drawn = tag(
        "table", tag("caption", caption), tag("thead", head), tag("tbody", *body),
        class_=class_ or None,
    )  # fmt: skip
    return tag("div", drawn, class_="scroll", tabindex="0", role="region", aria_label=caption)


def folded(summary: str, content: Markup) -> Markup:
    """What is shown when it is asked for, and always on paper."""
    return tag("details", tag("summary", summary), content)


def name_cell(label: str, colour: int | None = None) -> Cell:
    """The name of a model, with its mark."""
    return Cell(label, colour=colour)


def _cell(cell: Cell, number: int) -> Markup:
    text = tag("strong", cell.text) if cell.strong else cell.text
    if number == 0:
        key = None
        if cell.colour is not None:
            key = tag("span", class_=f"key k{cell.colour}", aria_hidden="true")
        return tag("th", key, text, scope="row")
    if cell.value is None:
        return tag("td", text)
    beneath = None if cell.beneath is None else tag("small", cell.beneath)
    return tag("td", text, beneath, class_="number", data_value=repr(cell.value))
