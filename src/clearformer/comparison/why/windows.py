"""Stretches of the held-out part that a measurement reads."""

from collections.abc import Iterable, Sequence

import numpy as np

from clearformer.errors import TextError
from clearformer.tensor import Int


def windows_of(
    held_out: Int[np.ndarray, "..."], length: int, count: int
) -> Int[np.ndarray, "rows seq"]:
    """At most `count` stretches of at most `length` ids, always the same ones.

    Args:
        held_out: ids of a text (seq), or rows of a task (rows, seq).
        length: ids in a stretch; fewer where a row or the text has fewer.
        count: stretches; of a text spread over all of it, of rows the first.

    Raises:
        TextError: there are fewer than two ids.
    """
    ids = np.asarray(held_out, np.intp)  # a byte holds no mark beyond the vocabulary
    if ids.shape[-1] < 2 or not ids.size:
        raise TextError(
            f"the held-out part must have at least 2 tokens; got {ids.shape[-1]}; "
            "take a longer text"
        )
    length = min(length, ids.shape[-1])
    if ids.ndim == 2:
        return ids[:count, -length:]
    last = len(ids) - length
    starts = np.unique(np.linspace(0, last, count).astype(np.intp))
    return ids[starts[:, None] + np.arange(length)]


def most_written(
    stretches: Iterable[Int[np.ndarray, " seq"]], vocabulary: Sequence[str]
) -> Int[np.ndarray, " seq"]:
    """The stretch with the most letters, which a person can read best; the first of several."""
    letters = np.array([any(map(str.isalpha, token)) for token in vocabulary])
    return max(stretches, key=lambda stretch: int(letters[stretch].sum()))
