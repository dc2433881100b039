"""How well a model predicts after so many tokens: what each further one is worth to it.

Every model begins with nothing before it, a recurrent one with an empty state, and reads on. All
pay for the beginning, where there is little to go by; from far back only those gain that see so
far. A model with a window is judged by windows, so it pays for the beginning again in each.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from math import log
from typing import Any

import numpy as np

from clearformer import ops
from clearformer.comparison.trained import Trained
from clearformer.comparison.why.fading import seen_by
from clearformer.comparison.why.numbers import kept_all
from clearformer.comparison.why.windows import windows_of
from clearformer.tensor import Float, Int
from clearformer.training.evaluation import rows_for

LONGEST = 256
"""Tokens that are read one after the other, where a model has no window."""

WINDOWS = 256
"""Stretches of text over which the mean is taken."""


@dataclass(frozen=True)
class Seen:
    """Mean loss of one model against the tokens it had before it."""

    name: str
    """Of the entrant."""
    first: tuple[int, ...]
    """Each mean is over predictions from at least so many tokens …"""
    last: tuple[int, ...]
    """… and at most so many."""
    bits: tuple[float | None, ...]
    """Mean -log2 p of the token that follows, in bits per token."""
    windows: int
    """Stretches of text over which the means are taken."""

    def at(self, first: int) -> float | None:
        """The mean that begins at so many tokens, if it was measured."""
        return dict(zip(self.first, self.bits, strict=True)).get(first)

    def to_json(self) -> dict[str, Any]:
        """A dictionary for JSON."""
        lists = {name: list(getattr(self, name)) for name in ("first", "last", "bits")}
        return {**asdict(self), **lists}

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> "Seen":
        """The same from such a dictionary."""
        lists = {name: tuple(document[name]) for name in ("first", "last", "bits")}
        return cls(**{**document, **lists})


def seen_of(entrant: Trained, *, longest: int = LONGEST, windows: int = WINDOWS) -> Seen | None:
    """The loss of a model after 1, 2, 3 … 4, 5 … 8, … tokens; None in a task of rows.

    All models of a comparison are asked for the same tokens of the same stretches, as far as they
    see: a stretch is `longest` + 1 ids long whatever the model.

    Args:
        entrant: a model that predicts the next token.
        longest: tokens before the last prediction, fewer where the model sees fewer.
        windows: stretches of held-out text.
    """
    if entrant.held_out.ndim != 1:
        return None
    ids = windows_of(entrant.held_out, longest + 1, windows)
    ids = ids[:, : (seen_by(entrant.configuration) or longest) + 1]
    losses = _losses(entrant, ids)
    cuts = cuts_of(len(losses))
    means = [losses[first - 1 : last].mean() / log(2) for first, last in cuts]
    firsts, lasts = zip(*cuts, strict=True)
    return Seen(entrant.name, firsts, lasts, kept_all(means), len(ids))


def cuts_of(longest: int) -> list[tuple[int, int]]:
    """1, 2, 3 … 4, 5 … 8, and so on to `longest`: each reaches twice as far as the one before."""
    ends = [1]
    while ends[-1] < longest:
        ends.append(min(2 * ends[-1], longest))
    return [(before + 1, end) for before, end in zip([0, *ends], ends, strict=False)]


def _losses(entrant: Trained, ids: Int[np.ndarray, "rows seq"]) -> Float[np.ndarray, " seen"]:
    """Mean loss in nats after 1, 2, … tokens."""
    rows = rows_for(ids.shape[1], entrant.configuration.vocabulary)
    total = np.zeros(ids.shape[1] - 1)
    for first in range(0, len(ids), rows):
        part = ids[first : first + rows]
        shares = np.asarray(ops.softmax(entrant.model(part[:, :-1])), np.float64)
        right = np.take_along_axis(shares, part[:, 1:, None], -1)[..., 0]
        total -= np.log(np.maximum(right, np.finfo(np.float32).tiny)).sum(0)
    mean: np.ndarray = total / len(ids)
    return mean
