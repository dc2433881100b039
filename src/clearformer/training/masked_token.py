"""To predict masked tokens from both sides: how an encoder is trained and judged."""

from collections.abc import Callable
from typing import Any

import numpy as np

from clearformer.models.encoder.configuration import EncoderConfiguration
from clearformer.text.batches import Batches
from clearformer.text.masked_batches import MaskedBatches
from clearformer.training.evaluation import Evaluation, rows_for
from clearformer.training.masked_evaluation import evaluate_masked
from clearformer.training.objective import Objective, Source, Spread, refuse_stride
from clearformer.training.options import TrainingOptions
from clearformer.training.preparation import Prepared


class MaskedToken(Objective[EncoderConfiguration]):
    """The masked language model (Devlin et al., "BERT", 2019, section 3.1).

    Of each window equally many tokens are predicted, so the mean over rows is the mean over all
    tokens that are predicted in the batch, however its rows are shared out. The loss itself is that
    of every model that gives scores at each position.
    """

    note = (
        "an encoder sees both sides of each token that it predicts: its loss, perplexity and bits "
        "per character cannot be compared with those of a model that predicts the next token"
    )

    def batches(
        self, prepared: Prepared, options: TrainingOptions, rank: int = 0, ranks: int = 1
    ) -> Source:
        """Windows with masks."""
        return MaskedBatches(
            Batches(
                prepared.train,
                self.configuration.window,
                options.batch,
                np.random.default_rng([options.seed, 1]),
                rank=rank,
                ranks=ranks,
            ),
            batch=options.batch,
            predicted=self.configuration.predicted,
            mask=self.configuration.mask,
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
        """How well the model predicts each token of a text when it is masked.

        Args:
            model: an encoder.
            judged: what `Prepared.validation` holds.
            context: tokens seen at once; None for as many as the model was trained with.
            stride: None: a mask has tokens on both sides, wherever a window begins.
            spread: how the pieces of the work are worked through.
            progress: hears the share that is done, 0 … 1.

        Raises:
            ConfigurationError: a stride is given.
        """
        refuse_stride(stride, "an encoder sees both sides of each token")
        window = context or self.configuration.window
        return evaluate_masked(
            model,
            judged,
            context=window,
            passes=self.configuration.passes,
            mask=self.configuration.mask,
            rows=rows_for(window, self.configuration.vocabulary),
            spread=spread,
            progress=progress,
        )
