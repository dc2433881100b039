"""To write the target of a source, token by token (teacher forcing: Williams and Zipser, 1989)."""

from collections.abc import Callable
from typing import Any

import numpy as np

from clearformer import ops
from clearformer.models.pairs.configuration import PairConfiguration
from clearformer.models.pairs.marks import begin_of, end_of
from clearformer.models.pairs.own_choice import with_own_choices
from clearformer.text.batches import IGNORED
from clearformer.text.pair_batches import PairBatches
from clearformer.training.evaluation import Evaluation
from clearformer.training.objective import Objective, Source, Spread, refuse_stride
from clearformer.training.options import TrainingOptions
from clearformer.training.pair_evaluation import evaluate_pairs
from clearformer.training.preparation import Prepared


class PairObjective(Objective[PairConfiguration]):
    """The next token of a target, from the source and what of the target comes before."""

    obstacle = "batches of pairs are of many lengths, and each would be compiled anew"
    """Batches are as long as their longest pair: each length would be compiled anew."""

    def loss(self, model: Any, *arguments: Any) -> Any:
        """The loss of these rows, in nats per token, weighed as their tokens of the whole batch.

        The mean over parts of a batch, each weighed by its rows, so is the mean over all tokens of
        the batch, however its rows are shared out.

        Args:
            model: on pairs.
            arguments: the arrays of `PairBatches.next`, or rows of them, and a generator for
                dropout or None.
        """
        sources, lengths, inputs, targets, given, average, rng = arguments
        read = with_own_choices(model, sources, lengths, inputs, given)
        logits = model(sources, read, lengths=lengths, rng=rng)
        share = float((targets != IGNORED).sum() / average.sum())
        return ops.multiply(ops.cross_entropy(logits, targets, IGNORED), share)

    def batches(
        self, prepared: Prepared, options: TrainingOptions, rank: int = 0, ranks: int = 1
    ) -> Source:
        """Pairs in a random order."""
        vocabulary = self.configuration.vocabulary
        return PairBatches(
            prepared.train,
            options.batch,
            np.random.default_rng([options.seed, 1]),
            begin=begin_of(vocabulary),
            end=end_of(vocabulary),
            forcing=self.configuration.teacher_forcing,
            rank=rank,
            ranks=ranks,
        )

    def evaluate(
        self,
        model: Any,
        judged: Any,
        *,
        context: int | None = None,
        stride: int | None = None,
        spread: Spread = map,
        progress: Callable[[float], None] | None = None,
    ) -> Evaluation:
        """How well the model writes targets.

        Args:
            model: on pairs.
            judged: what `Prepared.validation` holds.
            context: tokens of an answer, its end included; None for as many as the model bears.
            stride: None: there is no window that could move.
            spread: how the pieces of the work are worked through.
            progress: hears the share that is done, 0 … 1.

        Raises:
            ConfigurationError: a stride is given.
        """
        refuse_stride(stride, "a model on pairs reads each source whole")
        longest = context or self.configuration.window
        return evaluate_pairs(model, judged, longest=longest, spread=spread, progress=progress)
