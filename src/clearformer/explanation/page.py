"""What is being shown: a trace, the layer and head chosen of it, and the width of the page."""

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from clearformer.errors import ConfigurationError
from clearformer.explanation.facts import facts_of
from clearformer.explanation.lines import Line, Segment, Style, visible, wrapped
from clearformer.explanation.subject import showing
from clearformer.explanation.tables import INDENT
from clearformer.explanation.trace import Stage, Trace

NARROWEST, WIDEST = 60, 140
"""Columns; a terminal beyond these is treated as if it had so many."""
PROSE = 92
"""Columns; longer lines of prose are hard to read."""


@dataclass(frozen=True)
class Page:
    """A trace as one reader wants to see it."""

    trace: Trace
    width: int
    layer: int
    head: int

    @classmethod
    def of(cls, trace: Trace, width: int | None, layer: int | None, head: int | None) -> "Page":
        """The page for a choice; what is None is taken from the trace and the terminal.

        Raises:
            ConfigurationError: if the model has no such layer or head, or the trace left it out.
        """
        subject = trace.subject
        showing(subject, layer, head)
        for name, chosen, kept in (("layer", layer, subject.layer), ("head", head, subject.head)):
            if None not in (chosen, kept) and chosen != kept:
                raise ConfigurationError(
                    f"this trace holds {name} {kept} only; explain again with {name}={chosen}"
                )
        columns = shutil.get_terminal_size((80, 24)).columns if width is None else width
        return cls(
            trace,
            min(max(columns, NARROWEST), WIDEST),
            next(n for n in (layer, subject.layer, 0) if n is not None),
            next(n for n in (head, subject.head, 0) if n is not None),
        )

    @cached_property
    def facts(self) -> Any:
        """What kind of model it is: see `facts`, where each kind has a class."""
        return facts_of(self.trace.subject)

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """The tokens as they are shown."""
        return tuple(visible(token) for token in self.trace.tokens)

    @property
    def place(self) -> int:
        """The position whose prediction is told of."""
        return self.trace.subject.place

    @property
    def placed(self) -> str:
        """The token at it, and which one that is."""
        masks = self.trace.subject.masks
        which = "the last token" if not masks else "the first" if len(masks) > 1 else ""
        return f"“{self.labels[self.place]}”, {which}," if which else f"“{self.labels[self.place]}”"

    def block(self, within: str) -> str:
        """The full name of a stage of the chosen layer."""
        return f"{self.trace.subject.anatomy.part}.{self.layer}.{within}"

    def table(self, stage: Stage) -> np.ndarray:
        """The two axes of a stage that a table shows: without batch, of the chosen head."""
        values = stage.values
        if "batch" in stage.axes:
            values = values[0]
        if "head" in stage.axes:
            values = values[self.head * values.shape[0] // self.facts.heads]
        return values

    def of_block(self, within: str) -> np.ndarray:
        """The same for a stage of the chosen layer."""
        return self.table(self.trace.stage(self.block(within)))

    @cached_property
    def masked(self) -> np.ndarray | None:
        """(query, key) True where the chosen head may not look; None where everything is seen."""
        name = self.block("attention.masked_scores")
        return np.isneginf(self.of_block("attention.masked_scores")) if name in self.trace else None

    def prose(self, text: str, style: Style = "plain", indent: str = INDENT) -> Iterator[Line]:
        """Lines of prose."""
        for line in wrapped(text, min(self.width, PROSE) - len(indent)):
            yield (Segment(indent), Segment(line, style))
