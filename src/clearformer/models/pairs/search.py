"""Writing a target: the likeliest token at each step, or a beam of the best beginnings."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from clearformer.engines.dispatch import array_of
from clearformer.errors import ConfigurationError
from clearformer.models.pairs.marks import begin_of, end_of
from clearformer.models.pairs.memory import PairModel
from clearformer.tensor import Float, Int

MOST_BEAMS = 256
"""Far beyond what finds anything better; a slip is refused."""


@dataclass(frozen=True)
class Found:
    """A target that was written."""

    ids: tuple[int, ...]
    """Without begin and end."""
    log_probability: float
    """Of all its tokens, in nats, with that of its end if there is one."""
    ended: bool
    """Whether the end was written; else there was no room for more."""

    @property
    def score(self) -> float:
        """Log-probability per token, so that short targets are not preferred for being short."""
        return self.log_probability / (len(self.ids) + self.ended)


def search(
    model: PairModel,
    sources: Int[np.ndarray, "batch source"],
    lengths: Int[np.ndarray, " batch"] | None,
    *,
    longest: int,
    beam: int = 1,
    never: Sequence[int] = (),
) -> list[Found]:
    """The best target of each source that is found with `beam` beginnings at once.

    At each step the likeliest continuations are kept, as many as the beam is wide; one that has
    ended takes its place in it for good. With a beam of 1 that is the likeliest token at each step.
    (Sutskever et al., 2014, section 3.2; divided by the length: Wu et al., 2016, section 7.)

    Args:
        model: that encodes and decodes.
        sources: ids, each row with its end, filled up behind it.
        lengths: of the sources, each with its end; None where nothing is filled up.
        longest: tokens of a target, its end included.
        beam: beginnings that are gone on with.
        never: ids that are not written.

    Raises:
        ConfigurationError: a beam below 1, or beyond all use.
    """
    if isinstance(beam, bool) or not isinstance(beam, int) or not 1 <= beam <= MOST_BEAMS:
        raise ConfigurationError(f"beam must be a whole number from 1 to {MOST_BEAMS}; got {beam}")
    state = model.begin(model.encode(sources, lengths), longest)
    begin, end = begin_of(model.vocabulary), end_of(model.vocabulary)
    places = [_Beam(beam, end) for _ in range(len(sources))]
    owners = np.arange(len(sources))
    newest = np.full(len(sources), begin)
    for _ in range(longest):
        scores = log_softmax(array_of(model.step(newest, state)))
        scores[:, [begin, *never]] = -np.inf
        rows: list[int] = []
        for owner, part in _of_each(owners):
            rows += [part.start + row for row in places[owner].go_on(scores[part])]
        if not rows:
            break
        moved = rows != list(range(len(owners)))
        owners = owners[rows]
        newest = np.array([ids[-1] for owner, _ in _of_each(owners) for ids in places[owner].alive])
        if moved:
            state.take(np.array(rows))
    return [place.best() for place in places]


class _Beam:
    """The beginnings of one target."""

    def __init__(self, width: int, end: int) -> None:
        self._room, self._end = width, end
        self.alive: list[tuple[int, ...]] = [()]
        self._sums = np.zeros(1)
        self._ended: list[Found] = []

    def go_on(self, scores: Float[np.ndarray, "beginning token"]) -> list[int]:
        """Takes the best continuations; returns the number of the beginning of each one alive."""
        sums = (self._sums[:, None] + scores).reshape(-1)
        order = _largest(sums, self._room)
        rows, alive, kept = [], [], []
        for place in order.tolist():
            row, token = divmod(place, scores.shape[1])
            if sums[place] == -np.inf:
                continue
            if token == self._end:
                self._ended.append(Found(self.alive[row], float(sums[place]), True))
                self._room -= 1
                continue
            rows.append(row)
            alive.append((*self.alive[row], token))
            kept.append(sums[place])
        self.alive, self._sums = alive, np.array(kept)
        return rows

    def best(self) -> Found:
        """The best that has ended; if none has, the best beginning."""
        if self._ended:
            return max(self._ended, key=lambda found: found.score)
        return Found(self.alive[0], float(self._sums[0]), False)


def _largest(values: Float[np.ndarray, " n"], count: int) -> Int[np.ndarray, " count"]:
    """Where the largest are, the largest first; of equal ones the first."""
    if count == 1:
        return np.array([values.argmax()])
    if count >= len(values):
        return np.argsort(-values, kind="stable")
    least = np.partition(values, -count)[-count]
    places = np.flatnonzero(values >= least)
    return places[np.argsort(-values[places], kind="stable")][:count]


def _of_each(owners: Int[np.ndarray, " rows"]) -> list[tuple[int, slice]]:
    """The rows of each source that still has some."""
    found, starts = np.unique(owners, return_index=True)
    stops = [*starts[1:].tolist(), len(owners)]
    return [
        (int(owner), slice(int(start), stop))
        for owner, start, stop in zip(found, starts, stops, strict=True)
    ]


def log_softmax(logits: Any) -> Float[np.ndarray, "rows tokens"]:
    """Log-probabilities in float64."""
    x = np.asarray(logits, np.float64)
    x = x - x.max(-1, keepdims=True)
    result: np.ndarray = x - np.log(np.exp(x).sum(-1, keepdims=True))
    return result
