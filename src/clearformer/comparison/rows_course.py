"""A task of rows to learn from: drawn anew for every batch, judged by rows of the other part."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, is_dataclass
from functools import lru_cache
from math import log
from typing import Any

import numpy as np

from clearformer import ops
from clearformer.comparison.course import Counted, Ground, Score, score_of_symbols
from clearformer.comparison.entrants import Entrant, Reads
from clearformer.engines.dispatch import array_of
from clearformer.errors import ConfigurationError
from clearformer.models.kind import Configuration
from clearformer.models.kinds import KINDS
from clearformer.models.ngram.model import NGram
from clearformer.tasks import IGNORED, PairTask, SequenceTask, Task, as_sequences
from clearformer.training.evaluation import rows_for
from clearformer.training.objective import Spread
from clearformer.training.objectives import objective_of
from clearformer.training.options import TrainingOptions

JUDGED_POSITIONS = 2**17
"""About so many positions are judged by …"""

LEAST_ROWS, MOST_ROWS = 256, 2048
"""… in at least and at most so many rows."""

TRAINING, SEARCH, JUDGING, COUNTING = range(4)
"""Luck of its own for each purpose."""


@dataclass(eq=False)
class TaskRows:
    """Rows of a task, endlessly; see `Source`."""

    task: SequenceTask
    batch: int
    rng: np.random.Generator

    def __post_init__(self) -> None:
        self.targets = self.batch * self.task.context

    def next(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Inputs, targets (rows, seq), and for each row what is asked per row on average."""
        inputs, targets = self.task.draw(self.rng, self.batch)
        average = (targets != IGNORED).sum() / len(targets)
        return inputs, targets, np.full(len(inputs), average)

    def state(self) -> Mapping[str, object]:
        """A trial is never saved on its way."""
        return {}

    def restore(self, state: Mapping[str, Any]) -> None:
        """There is nothing to go on from."""


@dataclass(eq=False)
class RowsGround:
    """One entrant on a task of rows; its memory begins empty with each row."""

    task: SequenceTask
    vocabulary: int
    search: bool

    def loss(self, model: Any, *arguments: Any) -> Any:
        """The mean over all that is asked in the batch, however its rows are shared out.

        A part of the batch weighs in the learner by its rows; so the mean over what it asks is
        multiplied by that number and divided by what as many rows ask on average.
        """
        inputs, targets, average, rng = arguments
        asked = int((targets != IGNORED).sum())
        factor = asked / float(average.sum())
        return ops.cross_entropy(model(inputs, rng=rng), targets, IGNORED) * factor

    def batches(self, options: TrainingOptions) -> TaskRows:
        """Drawn by the seed."""
        rng = np.random.default_rng([options.seed, SEARCH if self.search else TRAINING])
        return TaskRows(self.task, options.batch, rng)

    def judge(self, model: Any, spread: Spread) -> Score:
        """Over rows of the part `test`; in the search, other rows of the part `train`."""
        inputs, targets = judged_rows(self.task, self.search)
        rows = rows_for(self.task.context, self.vocabulary)

        def answered(first: int) -> tuple[float, np.ndarray]:
            part = slice(first, first + rows)
            logits = model(inputs[part])
            loss = float(ops.cross_entropy(logits, targets[part], IGNORED))
            asked = int((targets[part] != IGNORED).sum())
            return loss * asked, array_of(logits).argmax(-1)

        found = list(spread(answered, range(0, len(inputs), rows)))
        loss = sum(part for part, _ in found) / int((targets != IGNORED).sum())
        ids = np.concatenate([part for _, part in found])
        return score_of_symbols(loss, self.task.accuracy(ids, targets))


def judged_count(task: SequenceTask) -> int:
    """How many rows are judged by."""
    return min(max(JUDGED_POSITIONS // task.context, LEAST_ROWS), MOST_ROWS)


@lru_cache(maxsize=4)
def judged_rows(task: SequenceTask, search: bool) -> tuple[np.ndarray, np.ndarray]:
    """Inputs and targets (rows, seq) to be judged by, the same for every entrant."""
    rows = judged_count(task)
    rng = np.random.default_rng([JUDGING, int(search)])
    return task.draw(rng, rows, "train" if search else "test")


@dataclass(eq=False)
class RowsCourse:
    """A task, read row by row.

    Args:
        task: of rows, or of pairs, which are made rows of.
    """

    task: Task

    def __post_init__(self) -> None:
        self.name = self.task.name
        self.reads: Reads = "pairs" if isinstance(self.task, PairTask) else "rows"
        self.rows = as_sequences(self.task) if isinstance(self.task, PairTask) else self.task

    def vocabulary(self, entrant: Entrant) -> tuple[str, ...]:
        """The symbols; of a model with two sides the characters alone, as it has marks itself."""
        if entrant.tokenizer or entrant.vocab:
            raise ConfigurationError(
                f"{entrant.name}: the task {self.name} has symbols of its own; "
                "a tokenizer goes with a text"
            )
        if isinstance(self.task, PairTask) and _has_sides(entrant):
            return self.task.alphabet
        return self.rows.vocabulary

    def tokenizer_of(self, entrant: Entrant) -> None:
        """There is no text."""
        return None

    def dials(self, entrant: Entrant) -> Mapping[str, Any]:
        """A row must fit."""
        if "context" in entrant.dials:
            raise ConfigurationError(
                f"{entrant.name}: the task {self.name} has rows of {self.rows.context} tokens, so "
                "the context is set by it; leave context out"
            )
        if isinstance(self.task, PairTask) and _has_sides(entrant):
            return {"context": max(self.task.longest) + 1}
        return {"context": self.rows.context}

    def read_in_a_row(self, entrant: Entrant, configuration: Configuration) -> int:
        """The same for all, also for models that read a row as a pair."""
        return self.rows.context

    def ground(self, entrant: Entrant, configuration: Configuration, search: bool) -> Ground:
        """The same rows for every entrant; pairs for a model with a side for each."""
        if isinstance(self.task, PairTask) and _has_sides(entrant):
            from clearformer.comparison.pairs_ground import PairsGround

            judged, context = judged_count(self.rows), self.rows.context
            objective = objective_of(configuration)
            return PairsGround(objective, self.task, judged, context, search)
        return RowsGround(self.rows, configuration.vocabulary, search)

    def counted(self, entrant: Entrant, tokens: int | None) -> Counted:
        """As long a text of the source as the others read in rows."""
        source, least = self.task.source, self.task.order - 1  # type: ignore[union-attr]
        ids = source.draw(np.random.default_rng([0, COUNTING]), tokens or JUDGED_POSITIONS)
        inputs, targets = judged_rows(self.rows, search=False)

        def judge(model: NGram) -> Score:
            logits = model(inputs)
            asked = targets != IGNORED
            loss = float(ops.cross_entropy(logits, targets, IGNORED))
            right = float((logits.argmax(-1) == targets)[asked].mean())
            return score_of_symbols(loss, right)

        return Counted(ids[max(least, 0) :], len(self.rows.vocabulary), judge)

    @property
    def counts(self) -> bool:
        """Whether counting can be judged by it: it is text of a source."""
        return hasattr(self.task, "source")

    def held_out(self, entrant: Entrant) -> np.ndarray:
        """The inputs to be judged by."""
        return judged_rows(self.rows, search=False)[0]

    def lengths(self, entrant: Entrant) -> np.ndarray:
        """Of each row, up to the last position that is asked."""
        asked = judged_rows(self.rows, search=False)[1] != IGNORED
        ends: np.ndarray = (asked * np.arange(1, asked.shape[1] + 1)).max(-1)
        return ends

    def described(self) -> Mapping[str, Any]:
        """With what is known of the best answer."""
        best = self.rows.best
        return {
            "name": self.name,
            "settings": _settings(self.task),
            "answer": self.rows.answer,
            "measure": "accuracy" if best == 0 else "bits_per_character",
            "chance": self.rows.chance,
            "best": best,
            "entropy": None if best is None else best / log(2),
            "context": self.rows.context,
        }

    def text(self) -> Mapping[str, Any]:
        """It is no text."""
        return {}


def _has_sides(entrant: Entrant) -> bool:
    """Whether it reads a source and writes a target."""
    return not entrant.counts and KINDS[entrant.kind].reads == "pairs"


def _settings(task: Any) -> dict[str, Any]:
    if not is_dataclass(task) or isinstance(task, type):
        return {}
    kept = {each.name for each in fields(task)}
    return {name: value for name, value in asdict(task).items() if name in kept}
