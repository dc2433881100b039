"""The next token, predicted by a model that remembers: its state is carried from batch to batch."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from clearformer import ops
from clearformer.errors import ConfigurationError
from clearformer.models.recurrent.configuration import RecurrentConfiguration
from clearformer.text.rows import ParallelRows
from clearformer.training.evaluation import Evaluation, evaluate, rows_for
from clearformer.training.objective import Objective, Source, Spread
from clearformer.training.options import TrainingOptions
from clearformer.training.preparation import Prepared
from clearformer.training.row_states import RowStates
from clearformer.training.streams import evaluate_streams


class CarriedNextToken(Objective[RecurrentConfiguration]):
    """Truncated back-propagation through time.

    A window is read from the state in which the window before it has ended; the gradient goes back
    to the beginning of the window and no further (Williams and Peng, 1990; Sutskever, "Training
    Recurrent Neural Networks", 2013, section 2.8.6).
    """

    obstacle = "each step leaves a state for the next"
    """The states are an effect of the loss."""

    def __init__(self, configuration: RecurrentConfiguration):
        super().__init__(configuration)
        self._states = RowStates(configuration, 0, range(0))

    def loss(self, model: Any, *arguments: Any) -> Any:
        """The mean loss over the rows, in nats per token; their states are taken and returned.

        Args:
            model: recurrent.
            arguments: inputs, targets (batch, seq), the number of each row, whether it begins here,
                and a generator for dropout or None.
        """
        inputs, targets, numbers, begins, rng = arguments
        state = self._states.of(numbers, begins)
        logits = model(inputs, state=state, rng=rng)
        self._states.keep(numbers, state)
        return ops.cross_entropy(logits, targets)

    def batches(
        self, prepared: Prepared, options: TrainingOptions, rank: int = 0, ranks: int = 1
    ) -> Source:
        """Rows of the text that go on from batch to batch."""
        rows = ParallelRows(
            prepared.train,
            self.configuration.window,
            options.batch,
            np.random.default_rng([options.seed, 1]),
            rank=rank,
            ranks=ranks,
        )
        self._states = RowStates(self.configuration, options.batch, rows.mine)
        return rows

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
        """How well the model predicts when it has read everything before.

        Args:
            model: recurrent.
            judged: what `Prepared.validation` holds.
            context: forgets after so many tokens, as if windows of that length were all there is;
                None for never.
            stride: tokens by which such windows move on; None for all of it.
            spread: how the pieces of the work are worked through.
            progress: hears the share that is done, 0 … 1.

        Raises:
            ConfigurationError: a stride that cannot be, or without a context.
            TextError: there is nothing to predict.
        """
        window, vocabulary = self.configuration.window, self.configuration.vocabulary
        if context is None and stride is not None:
            raise ConfigurationError(
                f"a recurrent model remembers all that it has read, in no window that moves; give "
                f"context with stride={stride}, or leave it out"
            )
        if context is None:
            rows = rows_for(window, vocabulary)
            return evaluate_streams(
                model,
                judged,
                layers=self.configuration.layers,
                window=window,
                rows=rows,
                spread=spread,
                progress=progress,
            )
        return evaluate(
            model,
            judged,
            context=context,
            stride=stride,
            rows=rows_for(context, vocabulary),
            spread=spread,
            progress=progress,
        )

    def carried(self) -> dict[str, np.ndarray]:
        """The states of the rows that this process reads, and zeros."""
        return self._states.named()

    def carry_on(self, carried: Mapping[str, np.ndarray]) -> None:
        """Takes back the states of all rows.

        Raises:
            ValueError: they are those of another model or batch.
        """
        self._states.put(carried)
