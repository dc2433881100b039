"""Recall: which symbol stood exactly k steps ago?

    place    0    1    2    3    4   …   3 + k          (k = distance)
    input   ~7   ~2   ~0   a5   ~3   …    ?a
    target   –    –    –    –    –   …    a5

A value is put at a random place at the beginning, among distractors of another alphabet, which is
what marks it. The query comes exactly k steps after it and asks for it. With several queries each
value carries the name of a slot (a, b, …) and each query that of the slot it asks for; so all of
them span the same distance, and the answer is always the symbol k steps back.

A model that can look k steps back needs one look: the query finds the value by its alphabet, its
slot or its distance. A model with one hidden state must carry queries · log2(values) bits through k
steps of noise. One that forgets is right once in as many as there are values.

One query is the default, though several give more to learn from in each row: with several, a model
first learns that some value is asked and stays there before it learns which.

Sources: Hochreiter and Schmidhuber 1997, "Long short-term memory", section 5: a symbol must be
given back after a time lag filled with random distractors, which leave nothing regular to lean on
(5.2, task 2c), and what is to be kept is marked (5.4). Arjovsky et al. 2016, "Unitary evolution
recurrent neural networks", section 5 (copying memory): symbols drawn at the beginning are asked for
after a lag, several in a row, with a known loss of a model without memory.
"""

from dataclasses import dataclass
from functools import cached_property
from string import ascii_lowercase
from typing import ClassVar

import numpy as np

from clearformer.tasks.parts import draw_part
from clearformer.tasks.settings import check_whole
from clearformer.tasks.task import IGNORED, Block, Part, SequenceTask

SPAN = 16
"""Places for the values, unless told: enough that a query's place does not give its slot away."""

LARGEST_DISTANCE = 2**20


@dataclass(frozen=True)
class Recall(SequenceTask):
    """Asks for the symbol that stood exactly `distance` steps ago."""

    name: ClassVar[str] = "recall"
    distance: int = 64
    """Steps from a value to the query that asks for it: k."""
    values: int = 8
    """Symbols a value can be."""
    queries: int = 1
    """Questions in each row, each of a slot of its own."""
    distractors: int = 16
    """Symbols of the noise between."""
    span: int | None = None
    """Places at the beginning among which the values are put. Unless given: at most 16."""

    def __post_init__(self) -> None:
        check_whole("distance", self.distance, 1, LARGEST_DISTANCE)
        check_whole("values", self.values, 2, 1000)
        check_whole("distractors", self.distractors, 2, 1000)
        most = min(self.distance, len(ascii_lowercase))
        check_whole("queries", self.queries, 1, most, "at most distance and 26")
        if self.span is not None:
            why = "queries to distance: the queries come after all values"
            check_whole("span", self.span, self.queries, self.distance, why)

    @property
    def places(self) -> int:
        """How many places there are for the values."""
        return self.span or max(self.queries, min(self.distance, SPAN))

    @property
    def context(self) -> int:
        """distance + places."""
        return self.distance + self.places

    @cached_property
    def vocabulary(self) -> tuple[str, ...]:
        """Distractors ~0 …, values slot by slot a0 …, queries ?a …"""
        slots = ascii_lowercase[: self.queries]
        values = [f"{slot}{number}" for slot in slots for number in range(self.values)]
        noise = [f"~{number}" for number in range(self.distractors)]
        return (*noise, *values, *(f"?{slot}" for slot in slots))

    @property
    def chance(self) -> float:
        """1 / values, of one who knows the slot that the query names and nothing else."""
        return 1 / self.values

    @property
    def best(self) -> float:
        """0: the input decides the answer."""
        return 0.0

    def draw(
        self, rng: np.random.Generator, rows: int, part: Part = "train"
    ) -> tuple[Block, Block]:
        """Inputs and targets (rows, seq); `queries` positions of each row are asked."""
        inputs = np.stack(
            draw_part(rows, part, lambda count: self._rows(rng, count), lambda row: row.tobytes())
        ).astype(np.intp)
        before = inputs[:, : -self.distance]
        targets = np.full_like(inputs, IGNORED)
        targets[:, self.distance :] = np.where(before >= self.distractors, before, IGNORED)
        return inputs, targets

    def _rows(self, rng: np.random.Generator, count: int) -> np.ndarray:
        """Inputs (count, seq) of both parts."""
        inputs = rng.integers(self.distractors, size=(count, self.context), dtype=np.uint16)
        places = rng.random((count, self.places)).argsort(1)[:, : self.queries]
        slots = np.arange(self.queries)
        first = self.distractors + slots * self.values
        row = np.arange(count)[:, None]
        inputs[row, places] = first + rng.integers(self.values, size=places.shape)
        inputs[row, places + self.distance] = self.distractors + self.queries * self.values + slots
        return inputs
