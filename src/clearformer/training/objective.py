"""What training makes small, by kind of model: loss, batches, and how the model is judged.

The loop knows none of it: it asks an objective for batches, hands them to the learner, and the
learner hands them to the objective's loss.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Generic, Protocol, TypeVar, runtime_checkable

import numpy as np

from clearformer.errors import ConfigurationError
from clearformer.models.kind import Configuration
from clearformer.text.batches import Batches
from clearformer.training.evaluation import Evaluation, evaluate, rows_for
from clearformer.training.next_token import next_token_loss
from clearformer.training.options import TrainingOptions
from clearformer.training.preparation import Prepared

C = TypeVar("C", bound=Configuration)

Spread = Callable[[Callable[[Any], Any], Iterable[Any]], Iterable[Any]]
"""How pieces of an evaluation are worked through: `map`, or over several threads."""


@runtime_checkable
class Source(Protocol):
    """Batches, endlessly."""

    targets: int
    """Tokens that are predicted in one batch, those of all processes together."""

    def next(self) -> tuple[np.ndarray, ...]:
        """The arrays of one batch, each with the rows as its first axis, as the loss wants them."""

    def state(self) -> Mapping[str, object]:
        """All that the batches to come depend on; plain JSON."""

    def restore(self, state: Mapping[str, Any]) -> None:
        """Goes on as the batches did whose state this is."""


class Objective(Generic[C]):
    """How one kind of model is trained and judged. This one: to predict the next token.

    Args:
        configuration: of the model.
    """

    obstacle = ""
    """Why the loss may not be compiled; empty where it has no effect but its result."""

    note = ""
    """What must be known to read the figures of an evaluation; empty if they are the usual ones."""

    def __init__(self, configuration: C):
        self.configuration = configuration

    def loss(self, model: Any, *arguments: Any) -> Any:
        """The mean loss over the rows of a batch, in nats per token.

        Args:
            model: of this kind.
            arguments: the arrays of a batch, or rows of them, and a generator for dropout or None.
        """
        inputs, targets, rng = arguments
        return next_token_loss(model, inputs, targets, rng)

    def batches(
        self, prepared: Prepared, options: TrainingOptions, rank: int = 0, ranks: int = 1
    ) -> Source:
        """What the loop learns from."""
        return Batches(
            prepared.train,
            self.configuration.window,
            options.batch,
            np.random.default_rng([options.seed, 1]),
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
        """How well the model predicts.

        Args:
            model: of this kind.
            judged: what `Prepared.validation` holds.
            context: tokens seen at once; None for as many as the model was trained with.
            stride: tokens by which the window moves on; None for all of it.
            spread: how the pieces of the work are worked through.
            progress: hears the share that is done, 0 … 1.

        Raises:
            ConfigurationError: a stride that cannot be, or where windows do not move on.
            TextError: there is nothing to predict.
        """
        window = context or self.configuration.window
        return evaluate(
            model,
            judged,
            context=window,
            stride=stride,
            rows=rows_for(window, self.configuration.vocabulary),
            spread=spread,
            progress=progress,
        )

    def carried(self) -> dict[str, np.ndarray]:
        """What goes from one batch to the next beside the weights, for a save; mostly nothing.

        Of several processes each gives what belongs to its rows, and zeros in the place of others:
        the arrays are added up.
        """
        return {}

    def carry_on(self, carried: Mapping[str, np.ndarray]) -> None:
        """Takes back what `carried` gave.

        Raises:
            ValueError: it is that of another model or batch.
        """
        if carried:
            raise ValueError("a save of another kind of training")


def refuse_stride(stride: int | None, why: str) -> None:
    """For kinds of which no window moves along a text.

    Raises:
        ConfigurationError: a stride is given.
    """
    if stride is not None:
        raise ConfigurationError(f"{why}; leave out stride={stride}")
