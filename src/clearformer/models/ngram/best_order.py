"""Which order suits a text: the one that predicts best a part of it that was not counted."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from clearformer.errors import ConfigurationError
from clearformer.models.ngram.fit import counted_text, of_order
from clearformer.tensor import Shaped

MOST_ORDERS = 10


@dataclass(frozen=True)
class BestOrder:
    """The order that won, and how each did."""

    order: int
    losses: tuple[float, ...]
    """Nats per token of what was held out, for the orders 1, 2, …."""
    held_out: int
    """Tokens that the orders were judged by."""


def best_order(
    ids: Sequence[int] | Shaped[np.ndarray, " seq"],
    vocabulary: int,
    *,
    most: int = MOST_ORDERS,
    held_out: float = 0.1,
    memory: int | None = None,
) -> BestOrder:
    """Counts the first part of a text and tries the orders 1 … `most` on the last part of it.

    `ids` is what may be learned from; what a model is later compared by must not be in it. Of
    equally good orders the shortest wins.

    Args:
        ids: at least two tokens.
        vocabulary: how many tokens there are.
        most: the longest order to try.
        held_out: the share of the text to judge by, above 0 and below 1.
        memory: bytes it may take; a level that may need more is refused before it is counted.

    Raises:
        ConfigurationError: a share, an order or a vocabulary that cannot be, or too short a text.
        ShapeError: ids that are no tokens of the vocabulary.
    """
    if not 0 < held_out < 1:
        raise ConfigurationError(
            f"the held-out part is a share between 0 and 1; got {held_out}; try 0.1"
        )
    if len(ids) < 2:
        raise ConfigurationError(
            f"choosing an order takes a text of at least 2 tokens; got {len(ids)}"
        )
    border = min(max(int(len(ids) * (1 - held_out)), 1), len(ids) - 1)
    levels = counted_text(ids[:border], vocabulary, most, memory)
    orders = range(1, most + 1)
    losses = tuple(of_order(levels, vocabulary, order).loss(ids, border) for order in orders)
    return BestOrder(int(np.argmin(losses)) + 1, losses, len(ids) - border)
