"""A task of pairs as a model reads it that has a side for sources and one for targets."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from clearformer.comparison.course import Score, score_of_symbols
from clearformer.comparison.rows_course import JUDGING, SEARCH, TRAINING
from clearformer.tasks import PairTask
from clearformer.text.characters import Characters
from clearformer.text.pair_ids import PairIds
from clearformer.text.tokenizer import Tokenizer
from clearformer.training.judged_pairs import judged_pairs
from clearformer.training.objective import Objective, Source, Spread
from clearformer.training.options import TrainingOptions
from clearformer.training.preparation import Prepared

MOST_PAIRS = 50_000
"""So many are drawn to learn from, or as many as are read; beyond, they come again."""


@dataclass(eq=False)
class PairsOfRows:
    """Batches of pairs, which count as the rows they would fill; see `Source`."""

    batches: Source
    targets: int

    def next(self) -> tuple[np.ndarray, ...]:
        """As the objective wants them."""
        return self.batches.next()

    def state(self) -> Mapping[str, object]:
        """A trial is never saved on its way."""
        return {}

    def restore(self, state: Mapping[str, Any]) -> None:
        """There is nothing to go on from."""


@dataclass(eq=False)
class PairsGround:
    """One entrant on a task of pairs."""

    objective: Objective[Any]
    task: PairTask
    rows: int
    """Pairs to be judged by."""
    context: int
    """Tokens of a pair as a row: so many count as read."""
    search: bool

    def __post_init__(self) -> None:
        self.tokenizer = tokenizer_of(self.task)

    def loss(self, model: Any, *arguments: Any) -> Any:
        """As the kind is trained in every run."""
        return self.objective.loss(model, *arguments)

    def batches(self, options: TrainingOptions) -> PairsOfRows:
        """Pairs drawn by the seed."""
        rng = np.random.default_rng([options.seed, SEARCH if self.search else TRAINING])
        read = options.batch * options.steps if options.steps else MOST_PAIRS
        pairs = self.task.draw(rng, min(read, MOST_PAIRS))
        learned = PairIds.of(self.tokenizer, pairs)
        batches = self.objective.batches(self._prepared(learned), options)
        return PairsOfRows(batches, options.batch * self.context)

    def judge(self, model: Any, spread: Spread) -> Score:
        """Over pairs of the part `test`; in the search, other pairs of the part `train`."""
        rng = np.random.default_rng([JUDGING, int(self.search)])
        pairs = self.task.draw(rng, self.rows, "train" if self.search else "test")
        judged = judged_pairs(self.tokenizer, pairs)
        found = self.objective.evaluate(model, judged, spread=spread)
        return score_of_symbols(found.loss, found.accuracy or 0.0)

    def _prepared(self, learned: Any) -> Prepared:
        nothing = judged_pairs(self.tokenizer, [])
        return Prepared(self.tokenizer, learned, nothing, self.objective.configuration, ())


def tokenizer_of(task: PairTask) -> Tokenizer:
    """Its characters."""
    return Characters.of("".join(task.alphabet))
