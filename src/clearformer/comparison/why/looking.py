"""What attention looked at: how far back each head, and in one stretch of text token by token."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from clearformer.comparison.trained import Trained
from clearformer.comparison.why.fading import seen_by
from clearformer.comparison.why.numbers import DIGITS
from clearformer.comparison.why.windows import most_written, windows_of
from clearformer.tensor import Float, Int

WINDOWS = 64
"""Stretches of text over which the mean is taken."""

SHOWN = 24
"""Tokens of the stretch that is shown."""

WEIGHTS = ".attention.weights"
"""How a model names what is listened to."""


@dataclass(frozen=True)
class Head:
    """One head of attention."""

    layer: int
    head: int
    by_distance: tuple[float, ...]
    """Mean weight of the token so many places back, as seen from the last position; sums to 1."""
    shown: tuple[tuple[float, ...], ...] | None
    """Of one stretch the weight of each key, for each query; None but for one head of a layer."""

    @property
    def distance(self) -> float:
        """The mean distance, in tokens."""
        return float(np.arange(len(self.by_distance)) @ np.array(self.by_distance))


@dataclass(frozen=True)
class Looking:
    """The heads of one model."""

    name: str
    """Of the entrant."""
    heads: tuple[Head, ...]
    windows: int
    """Stretches of text over which the mean is taken."""
    tokens: tuple[str, ...]
    """Those of the stretch that is shown."""

    def to_json(self) -> dict[str, Any]:
        """A dictionary for JSON."""
        return {**asdict(self), "tokens": list(self.tokens), "heads": list(map(_plain, self.heads))}

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> "Looking":
        """The same from such a dictionary."""
        heads = tuple(map(_head, document["heads"]))
        return cls(**{**document, "tokens": tuple(document["tokens"]), "heads": heads})


def looking_of(entrant: Trained, *, windows: int = WINDOWS, shown: int = SHOWN) -> Looking | None:
    """What the heads of a model look at; None for a model without attention to its own input.

    Of each layer the head is shown whose weights are the most decided: that with the least mean
    entropy. Of a task of rows nothing counts behind the last position that is asked.
    """
    if not getattr(entrant.model, "blocks", ()):
        return None
    ids, lengths = _read(entrant, windows)
    stretch = most_written(_stretches(ids, lengths, shown), entrant.vocabulary)
    averages = [_by_distance(weights, lengths) for weights in _weights(entrant.model, ids)]
    pictures = [weights[0] for weights in _weights(entrant.model, stretch[None])]
    heads: list[Head] = []
    for layer, (average, picture) in enumerate(zip(averages, pictures, strict=True)):
        decided = int(_entropy(picture).mean(-1).argmin())
        for head, by_distance in enumerate(average):
            table = _rounded_rows(picture[head]) if head == decided else None
            heads.append(Head(layer, head, _rounded(by_distance, DIGITS), table))
    names = tuple(entrant.vocabulary[token] for token in stretch)
    return Looking(entrant.name, tuple(heads), len(ids), names)


def _read(
    entrant: Trained, windows: int
) -> tuple[Int[np.ndarray, "rows seq"], Int[np.ndarray, " rows"]]:
    """What is looked at, and how many ids of each row count."""
    if entrant.lengths is not None:  # whole rows, as it has learned from
        return np.asarray(entrant.held_out[:windows], np.intp), entrant.lengths[:windows]
    ids = windows_of(entrant.held_out, seen_by(entrant.configuration) or SHOWN, windows)
    return ids, np.full(len(ids), ids.shape[1])


def _stretches(
    ids: Int[np.ndarray, "rows seq"], lengths: Int[np.ndarray, " rows"], shown: int
) -> list[Int[np.ndarray, " seq"]]:
    """Whole rows where any fits into `shown` tokens, the ends of all rows where none does."""
    whole = [row[:length] for row, length in zip(ids, lengths, strict=True) if length <= shown]
    ends = zip(ids, lengths, strict=True)
    return whole or [row[length - shown : length] for row, length in ends]


def _by_distance(
    weights: Float[np.ndarray, "rows heads query key"], lengths: Int[np.ndarray, " rows"]
) -> Float[np.ndarray, "heads back"]:
    """The mean weight of each token before the last that counts, from near to far."""
    total = np.zeros((weights.shape[1], lengths.max()))
    for row, length in zip(weights, lengths, strict=True):
        total[:, :length] += row[:, length - 1, length - 1 :: -1]
    mean: np.ndarray = total / len(weights)
    return mean


def _weights(
    model: Any, ids: Int[np.ndarray, "rows seq"]
) -> list[Float[np.ndarray, "rows heads query key"]]:
    """Of each layer, and nothing else is kept."""
    heard: list[np.ndarray] = []

    def tap(name: str, x: Any) -> Any:
        if name.endswith(WEIGHTS):
            heard.append(np.asarray(x))
        return x

    model(ids, tap=tap)
    return heard


def _entropy(weights: Float[np.ndarray, "... key"]) -> Float[np.ndarray, "..."]:
    logarithms = np.log(weights, out=np.zeros_like(weights), where=weights > 0)
    entropy: np.ndarray = -(weights * logarithms).sum(-1)
    return entropy


def _rounded(values: Any, digits: int) -> tuple[float, ...]:
    return tuple(round(float(value), digits) for value in values)


def _rounded_rows(table: Sequence[Any]) -> tuple[tuple[float, ...], ...]:
    """Each query with the keys that it may see, to a thousandth."""
    return tuple(_rounded(row[: number + 1], 3) for number, row in enumerate(table))


def _plain(head: Head) -> dict[str, Any]:
    shown = None if head.shown is None else [list(row) for row in head.shown]
    return {**asdict(head), "by_distance": list(head.by_distance), "shown": shown}


def _head(document: Mapping[str, Any]) -> Head:
    shown = document["shown"]
    rows = None if shown is None else tuple(tuple(row) for row in shown)
    distances = tuple(document["by_distance"])
    return Head(**{**document, "by_distance": distances, "shown": rows})
