"""The trace of a model on pairs as lines of text: the answer, and what it has looked at."""

import shutil
from collections.abc import Iterator

import numpy as np

from clearformer.explanation.edits import in_words
from clearformer.explanation.lines import (
    Line,
    Segment,
    Style,
    cell_width,
    left,
    right,
    shortened,
    visible,
    wrapped,
)
from clearformer.explanation.page import NARROWEST, PROSE, WIDEST
from clearformer.explanation.pair_subject import PairSubject, layer_of
from clearformer.explanation.tables import TABLE_INDENT, Table, number, table_lines
from clearformer.explanation.trace import Stage, Trace

COLUMN = 7
"""Columns of the terminal that a number takes in a table."""

SHADES = " ░▒▓█"
"""For a weight of less than a fifth of the largest, two fifths, …"""


def render_pairs(trace: Trace, subject: PairSubject, width: int | None = None) -> list[Line]:
    """The whole explanation, for a page of `width` columns (None: the terminal's)."""
    columns = shutil.get_terminal_size((80, 24)).columns if width is None else width
    page = _PairPage(trace, subject, min(max(columns, NARROWEST), WIDEST))
    return [*page.opening(), *page.alignment(), *page.steps(), *page.stages()]


class _PairPage:
    def __init__(self, trace: Trace, subject: PairSubject, width: int) -> None:
        self.trace, self.subject, self.width = trace, subject, width
        self.source = [visible(token) for token in trace.tokens]
        self.target = [visible(token) for token in trace["target_tokens"].tolist()]

    def opening(self) -> Iterator[Line]:
        subject = self.subject
        line = visible(f"{subject.sentence} → {subject.answer_text}").replace("␣", " ")
        yield (Segment(shortened(line, self.width), "title"),)
        yield from self.prose(
            f"The {subject.title} in {visible(str(subject.path))} after {subject.step:,} "
            f"step{'s' * (subject.step != 1)} of training. It has read the source, and written the "
            "target one token after another, each time the likeliest."
        )
        for note in self.trace.notes:
            yield from self.prose(f"note: {visible(note).replace('␣', ' ')}", "note")
        edited = dict.fromkeys(visible(name) for name, _ in self.trace.edits)
        if edited:
            yield from self.prose(f"edited: {', '.join(edited)}", "note")
            yield from self.prose(
                "Nothing is written anew: the target above, written without the edit, is read "
                "again. What changes is how likely each of its tokens is in its place.",
                "note",
            )

    def alignment(self) -> Iterator[Line]:
        yield from self.heading("What it looked at")
        found = [stage for stage in self.trace if is_alignment(stage.name)]
        if not found:
            yield from self.prose(
                "Nothing: this model has no attention. All that the decoder knows of the source is "
                "the state in which the encoder has ended, one row of numbers however long the "
                "source is."
            )
            return
        yield from self.prose(
            "Each row is a token of the target, each column one of the source: how much of what "
            "the encoder has made of it went into this choice. A row adds up to 1."
        )
        for stage in found:
            yield from self._weights(stage)

    def _weights(self, stage: Stage) -> Iterator[Line]:
        tables = stage.values[0] if "head" in stage.axes else stage.values
        yield ()
        yield (Segment(stage.name, "title"),)
        if "head" in stage.axes and len(tables) > 1:
            said = f"The mean over its {len(tables)} heads; --head shows one of them."
            yield from self.prose(said, "faint")
        table = Table(
            self.target, self.source, np.mean(tables, 0), axis="source", sums=True, strong=True
        )
        yield from table_lines(table, self.width)
        if len(self.source) * COLUMN > self.width:
            yield from self._map(np.mean(tables, 0))

    def _map(self, weights: np.ndarray) -> Iterator[Line]:
        """All of a table that is too wide: the darker, the larger."""
        room = max(cell_width(shortened(token, 8)) for token in self.target)
        largest = float(np.max(weights, initial=0.0, where=np.isfinite(weights)))
        yield ()
        columns = [left(shortened(token, 2), 2) for token in self.source]
        fitting = max(1, (self.width - len(TABLE_INDENT) - room - 2) // 2)
        indent = " " * (len(TABLE_INDENT) + room + 2)
        yield (Segment(indent + "".join(columns[:fitting]), "label"),)
        for token, row in zip(self.target, weights, strict=True):
            shades = "".join(2 * SHADES[shade(float(weight), largest)] for weight in row[:fitting])
            label = left(shortened(token, 8), room)
            yield (Segment(f"{TABLE_INDENT}{label}  ", "label"), Segment(shades, "formula"))
        told = f"The darker, the more weight; the darkest is {number(largest)}."
        yield from self.prose(told, "faint")
        if fitting < len(columns):
            yield from self.prose(f"… {len(columns) - fitting} more columns", "note")

    def steps(self) -> Iterator[Line]:
        yield from self.heading("What it wrote")
        before = self.subject.trace()["probabilities"][0] if self.trace.edits else None
        yield from self.prose(
            "Each token of the target, its probability, and the runner-up."
            if before is None
            else "Each token of the target, its probability now and before the edit, and the "
            "likeliest other token now."
        )
        yield ()
        shares, ids = self.trace["probabilities"][0], self.trace["target_ids"][0]
        room = max(cell_width(shortened(token, 12)) for token in self.target)
        for place, id in enumerate(ids.tolist()):
            others = np.argsort(-shares[place], kind="stable")
            other = next(int(n) for n in others if n != id)
            was = "" if before is None else f"  {right(number(float(before[place, id])), 5)}"
            yield (
                Segment(TABLE_INDENT + left(shortened(self.target[place], 12), room), "label"),
                Segment(f"  {right(number(float(shares[place, id])), 5)}", "strong"),
                Segment(was, "number"),
                Segment(f"   {right(number(float(shares[place, other])), 5)}  ", "faint"),
                Segment(shortened(visible(self.subject.token(other)), 12), "faint"),
            )

    def stages(self) -> Iterator[Line]:
        yield from self.heading("Every step")
        yield from self.prose(
            "Each has a name, which is its key in --json and in Python, and a shape. --json has "
            "every number; --edit NAME=VALUE asks what would be if one were different."
        )
        yield ()
        for stage in self.trace:
            shape = in_words(stage.axes, stage.shape)
            name = Segment(f"{TABLE_INDENT}{stage.name}", "label")
            gap = self.width - cell_width(name.text) - len(shape)
            if gap >= 2:
                yield (name, Segment(f"{' ' * gap}{shape}", "shape"))
            else:
                yield (name,)
                yield (Segment(right(shape, self.width), "shape"),)

    def heading(self, title: str) -> Iterator[Line]:
        line = "─" * max(0, self.width - cell_width(title) - 4)
        yield ()
        yield (Segment("── ", "faint"), Segment(title, "section"), Segment(f" {line}", "faint"))
        yield ()

    def prose(self, text: str, style: Style = "plain") -> Iterator[Line]:
        for line in wrapped(text, min(self.width, PROSE)):
            yield (Segment(line, style),)


def shade(weight: float, largest: float) -> int:
    """Which of the shades stands for a weight; 0 for one that is not a number."""
    if not (weight > 0 and largest > 0):
        return 0
    return min(int(weight / largest * len(SHADES)), len(SHADES) - 1)


def is_alignment(name: str) -> bool:
    """Whether a stage holds the weights with which a decoder has looked at the source."""
    crossed = layer_of(name) is not None and name.endswith(".cross.weights")
    return name.startswith("decoder.") and (crossed or name == "decoder.attention.weights")
