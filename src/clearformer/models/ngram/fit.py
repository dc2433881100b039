"""From a text to an n-gram model."""

from collections.abc import Sequence

import numpy as np

from clearformer.errors import ShapeError
from clearformer.models.ngram.counting import CountedLevel, check_row, check_sizes, counted
from clearformer.models.ngram.model import NGram, row_of
from clearformer.tensor import Shaped


def fit(
    ids: Sequence[int] | Shaped[np.ndarray, " seq"],
    vocabulary: int,
    order: int,
    *,
    memory: int | None = None,
) -> NGram:
    """Counts a text.

    Args:
        ids: the text, at least one token.
        vocabulary: how many tokens there are, those that the text lacks included.
        order: the longest n-gram, in tokens; it sees order - 1 tokens back.
        memory: bytes it may take; a level that may need more is refused before it is counted.

    Raises:
        ConfigurationError: an order or a vocabulary that cannot be.
        ShapeError: an empty text, or ids that are no tokens of the vocabulary.
    """
    return of_order(counted_text(ids, vocabulary, order, memory), vocabulary, order)


def counted_text(
    ids: Sequence[int] | Shaped[np.ndarray, " seq"],
    vocabulary: int,
    order: int,
    memory: int | None = None,
) -> list[CountedLevel]:
    """Everything that models of each order up to this one are made of (raises as `fit`)."""
    row = row_of(ids)
    check_sizes(len(row), vocabulary, order)
    check_row(row, vocabulary)
    if not len(row):
        raise ShapeError("an n-gram model is counted from at least one token; got none")
    return counted(row, vocabulary, order, memory)


def of_order(levels: Sequence[CountedLevel], vocabulary: int, order: int) -> NGram:
    """The model of this order, of a text counted up to it or further."""
    chosen = enumerate(levels[:order], 1)
    return NGram(tuple(level.level(highest=k == order) for k, level in chosen), vocabulary)
