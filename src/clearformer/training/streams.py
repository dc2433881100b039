"""How well a model that remembers predicts a text: it reads on, and never begins anew."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from clearformer.errors import TextError
from clearformer.models.recurrent.state import RecurrentState
from clearformer.ops import cross_entropy
from clearformer.tensor import Int
from clearformer.text.batches import IGNORED
from clearformer.text.ids import LongIds
from clearformer.training.evaluation import ROWS, Evaluation
from clearformer.training.judged import Judged

SHORTEST_STREAM = 1024
"""Tokens. A text is cut into streams that are read side by side, as that is quicker. Each begins
with an empty state, so its first tokens are predicted from little: at most one in so many tokens is
the first of a stream, and a shorter text is one stream."""

MOST_STREAMS = 4096
"""Beyond, more of them make nothing quicker."""


@dataclass(frozen=True)
class Piece:
    """Some streams, which one thread reads from beginning to end."""

    ids: LongIds
    starts: Int[np.ndarray, " rows"]
    stops: Int[np.ndarray, " rows"]
    """Predictions are made at start … stop - 1."""
    longest: int
    """Predictions in the longest stream of the text; every piece makes as many steps."""

    def windows(self, window: int) -> Iterator[tuple[np.ndarray, np.ndarray, int]]:
        """Inputs, targets (rows, seq), and how many of these count."""
        for first in range(0, self.longest, window):
            length = min(window, self.longest - first)
            inputs = np.zeros((len(self.starts), length), np.intp)
            targets = np.full((len(self.starts), length), IGNORED, np.intp)
            counted = 0
            for row, (start, stop) in enumerate(zip(self.starts, self.stops, strict=True)):
                begin, end = int(start) + first, min(int(start) + first + length, int(stop))
                if begin < end:
                    part = self.ids[begin : end + 1]
                    inputs[row, : end - begin] = part[:-1]
                    targets[row, : end - begin] = part[1:]
                    counted += end - begin
            yield inputs, targets, counted


def evaluate_streams(
    model: Any,
    text: Judged,
    *,
    layers: int,
    window: int,
    rows: int = ROWS,
    spread: Callable[[Callable[[Any], Any], Iterable[Any]], Iterable[Any]] = map,
    progress: Callable[[float], None] | None = None,
) -> Evaluation:
    """The loss over every position of `text`, each predicted from all that its stream holds before.

    Args:
        model: recurrent.
        text: at least two tokens.
        layers: of the model.
        window: tokens that are read at once; changes nothing but the time it takes.
        rows: streams in one piece of work.
        spread: how the pieces are worked through, `map` or over several threads.
        progress: hears the share that is done, 0 … 1, from time to time.

    Raises:
        TextError: if there are fewer than two tokens.
    """
    tokens, done = len(text.ids) - 1, 0

    def total(piece: Piece) -> float:
        nonlocal done
        state, loss = RecurrentState(layers), 0.0
        for inputs, targets, counted in piece.windows(window):
            logits = model(inputs, state=state)
            loss += float(cross_entropy(logits, targets, IGNORED)) * counted
            done += counted
            if progress:
                progress(done / tokens)
        return loss

    loss = sum(spread(total, pieces(text.ids, rows)))
    return Evaluation(loss / tokens, tokens, text.characters, text.spelling)


def pieces(ids: LongIds, rows: int) -> list[Piece]:
    """Every position of `ids` but the last once, in streams about equally long.

    Raises:
        TextError: fewer than two ids, so that there is nothing to predict.
    """
    predictions = len(ids) - 1
    if predictions < 1:
        raise TextError(f"an evaluation needs at least 2 tokens; the text has {len(ids)}")
    streams = min(max(predictions // SHORTEST_STREAM, 1), MOST_STREAMS)
    cuts = np.array([predictions * n // streams for n in range(streams + 1)], np.int64)
    longest = int(np.diff(cuts).max())
    count = _pieces(streams, rows)
    borders = [streams * n // count for n in range(count + 1)]
    return [
        Piece(ids, cuts[begin:end], cuts[begin + 1 : end + 1], longest)
        for begin, end in pairwise(borders)
    ]


def _pieces(streams: int, rows: int) -> int:
    """At least two where there are several streams: threads share them."""
    return max(-(-streams // rows), min(streams, 2))
