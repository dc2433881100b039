"""The numbers of one stage, each kind of stage in its own form."""

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from clearformer.explanation.axes import split_name
from clearformer.explanation.lines import Line, Segment, cell_width, left, right, shortened, visible
from clearformer.explanation.page import Page
from clearformer.explanation.reasons import (
    strongest,
    why_divide,
    worked_mix,
    worked_product,
    worked_score,
    worked_shift,
)
from clearformer.explanation.recurrent_reasons import worked_cell, worked_hidden
from clearformer.explanation.tables import (
    MOST_TOKENS,
    TABLE_INDENT,
    Table,
    number,
    pick,
    table_lines,
)
from clearformer.explanation.trace import Stage

INVISIBLE = {" ": "a space", "\n": "the end of a line", "\t": "a tab", "\u3000": "a wide space"}
MOST_IN_A_ROW = 64
"""Tokens listed one after another; the rest is left out, and that is said."""
SMALL_VOCABULARY = 12
"""Up to here the whole vocabulary fits across a table."""
FEW = 8
"""Rows of a table of which one sees the kind of numbers, not each of them."""
LIKELIEST = 8
"""Columns shown of a larger vocabulary."""


def body(page: Page, stage: Stage) -> Iterator[Line]:
    """The lines below the explanation of a stage."""
    within = split_name(stage.name)[1]
    yield from _BODIES.get(within, _by_token)(page, stage)


def _tokens(page: Page, stage: Stage) -> Iterator[Line]:
    yield from _listed(page, page.labels)
    text = "".join(page.trace.tokens)
    used = [f"{visible(sign)} is {name}" for sign, name in INVISIBLE.items() if sign in text]
    if used:
        yield from page.prose(f"{', '.join(used)}.", "faint")


def _ids(page: Page, stage: Stage) -> Iterator[Line]:
    ids = page.table(stage).tolist()
    yield from _listed(page, [f"{t} {i}" for t, i in zip(page.labels, ids, strict=True)])


def _listed(page: Page, entries: Sequence[str]) -> Iterator[Line]:
    """Entries one after another, with lines between them."""
    line: list[Segment] = [Segment(TABLE_INDENT)]
    used = len(TABLE_INDENT)
    for place in pick(len(entries), MOST_IN_A_ROW):
        text = f"… {len(entries) - MOST_IN_A_ROW} more …" if place is None else entries[place]
        text = shortened(text, 40)
        if used > len(TABLE_INDENT) and used + cell_width(text) + 3 > page.width:
            yield tuple(line)
            line, used = [Segment(TABLE_INDENT)], len(TABLE_INDENT)
        if used > len(TABLE_INDENT):
            line.append(Segment(" │ ", "faint"))
            used += 3
        line.append(Segment(text, "note" if place is None else "label"))
        used += cell_width(text)
    yield tuple(line)


def _by_token(page: Page, stage: Stage) -> Iterator[Line]:
    yield from _numbered(page, stage, page.labels)


def _shifted(page: Page, stage: Stage) -> Iterator[Line]:
    yield from _by_token(page, stage)
    yield from worked_shift(page, stage)


def _position(page: Page, stage: Stage) -> Iterator[Line]:
    yield from _numbered(page, stage, [f"p = {p}" for p in range(len(stage.values))])


def _numbered(page: Page, stage: Stage, rows: Sequence[str]) -> Iterator[Line]:
    """A table whose columns have no names but their numbers."""
    values = page.table(stage)
    columns = [str(i) for i in range(values.shape[1])]
    axis = stage.axes[-1]
    table = Table(rows, columns, values, axis=axis, most_rows=FEW, column_order="start")
    yield from table_lines(table, page.width)


def _key_transposed(page: Page, stage: Stage) -> Iterator[Line]:
    values = page.table(stage)
    rows = [str(i) for i in range(len(values))]
    yield from table_lines(Table(rows, page.labels, values, axis="key", most_rows=FEW), page.width)


def _looks(page: Page, stage: Stage) -> Iterator[Line]:
    """Tokens on both sides."""
    table = Table(page.labels, page.labels, page.table(stage), axis="key")
    yield from table_lines(table, page.width)


def _products(page: Page, stage: Stage) -> Iterator[Line]:
    yield from _looks(page, stage)
    yield from worked_product(page)


def _scores(page: Page, stage: Stage) -> Iterator[Line]:
    yield from _looks(page, stage)
    yield from worked_score(page)


def _masked_scores(page: Page, stage: Stage) -> Iterator[Line]:
    values = page.table(stage)
    table = Table(page.labels, page.labels, values, np.isneginf(values), axis="key")
    yield from table_lines(table, page.width)


def _weights(page: Page, stage: Stage) -> Iterator[Line]:
    values = page.table(stage)
    masked = None if page.masked is None else page.masked & (values == 0)
    table = Table(page.labels, page.labels, values, masked, axis="key", sums=True, strong=True)
    yield from table_lines(table, page.width)
    yield from strongest(page, page.place)
    yield from why_divide(page)


def _mixed(page: Page, stage: Stage) -> Iterator[Line]:
    yield from _by_token(page, stage)
    yield from worked_mix(page)


def _cell(page: Page, stage: Stage) -> Iterator[Line]:
    yield from _by_token(page, stage)
    yield from worked_cell(page, stage)


def _hidden(page: Page, stage: Stage) -> Iterator[Line]:
    yield from _by_token(page, stage)
    yield from worked_hidden(page, stage)


def _logits(page: Page, stage: Stage) -> Iterator[Line]:
    values = page.table(stage)
    size = values.shape[1]
    if size <= SMALL_VOCABULARY:
        picked = np.arange(size)
    else:
        picked = np.argsort(-values[page.place], kind="stable")[:LIKELIEST]
        yield from page.prose(
            f"{LIKELIEST} of {size:,} columns: those with the highest scores "
            f"{'after' if page.facts.ahead else 'at'} “{page.labels[page.place]}”.",
            "note",
        )
    table = Table(
        page.labels,
        [visible(page.trace.subject.token(int(id))) for id in picked],
        values[:, picked],
        axis="vocab",
        most_rows=FEW,
        strong=True,
        column_order="start",
    )
    yield from table_lines(table, page.width)


def _probabilities(page: Page, stage: Stage) -> Iterator[Line]:
    values = page.table(stage)
    if values.shape[1] > SMALL_VOCABULARY:
        yield from _predictions(page, values)
        return
    columns = [visible(page.trace.subject.token(id)) for id in range(values.shape[1])]
    table = Table(
        page.labels, columns, values, axis="vocab", sums=True, strong=True, column_order="start"
    )
    yield from table_lines(table, page.width)


def _predictions(page: Page, values: np.ndarray) -> Iterator[Line]:
    """For each token: what the model expected, and what came, or stands there."""
    at = max(2, *(cell_width(_short(token)) for token in page.labels), 0)
    room = min(12, (page.width - len(TABLE_INDENT) - at - 31) // 2)  # of a predicted token
    ahead, size = page.facts.ahead, values.shape[1]
    told = "what came" if ahead else "what is there"
    head = f"{left('at', at)}  {left('likeliest', room + 7)}  {left(told, room + 7)}  its rank"
    yield (Segment(TABLE_INDENT + head, "faint"),)
    ids = page.table(page.trace.stage("ids")).tolist()
    for row in pick(len(values), MOST_TOKENS):
        if row is None:
            yield (Segment(f"{TABLE_INDENT}… {len(values) - MOST_TOKENS} more", "note"),)
            continue
        line = [
            Segment(TABLE_INDENT + left(_short(page.labels[row]), at), "label"),
            Segment(_token_share(page, values[row], int(values[row].argmax()), room), "strong"),
        ]
        if row + ahead < len(values) and ids[row + ahead] < size:  # no probability is of a mask
            next = ids[row + ahead]
            rank = 1 + int((values[row] > values[row, next]).sum())
            line.append(Segment(_token_share(page, values[row], next, room), "number"))
            line.append(Segment(f"  {rank:>8,}", "number"))
        yield tuple(line)


def _token_share(page: Page, shares: np.ndarray, id: int, room: int) -> str:
    token = shortened(visible(page.trace.subject.token(id)), room)
    return f"  {left(token, room)}  {right(number(float(shares[id])), 5)}"


def _short(token: str) -> str:
    return shortened(token, 12)


_BODIES: dict[str, Callable[[Page, Stage], Iterator[Line]]] = {
    "tokens": _tokens,
    "ids": _ids,
    "shifted": _shifted,
    "position": _position,
    "attention.key_transposed": _key_transposed,
    "attention.products": _products,
    "attention.scores": _scores,
    "attention.masked_scores": _masked_scores,
    "attention.weights": _weights,
    "attention.mixed": _mixed,
    "cell": _cell,
    "hidden": _hidden,
    "logits": _logits,
    "probabilities": _probabilities,
}
"""All others are tables with a row for each token and numbered columns."""
