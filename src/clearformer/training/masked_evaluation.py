"""How well a model fills in: every token of a text is masked once, by a fixed pattern."""

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from clearformer import ops
from clearformer.engines.dispatch import array_of
from clearformer.errors import TextError
from clearformer.tensor import Int
from clearformer.text.batches import IGNORED
from clearformer.text.ids import LongIds
from clearformer.text.permutation import ROUNDS, Permutation, random_numbers
from clearformer.training.evaluation import STRETCH, Evaluation
from clearformer.training.judged import Judged

PATTERN = 1
"""Seed of the pattern, the same for every model, so that figures can be compared."""


class Piece(NamedTuple):
    """Some windows, each read with some of its tokens masked."""

    inputs: Int[np.ndarray, "batch seq"]
    targets: Int[np.ndarray, "batch seq"]
    counted: int
    """Tokens that are predicted."""


def evaluate_masked(
    model: Any,
    text: Judged,
    *,
    context: int,
    passes: int,
    mask: int,
    rows: int,
    spread: Callable[[Callable[[Any], Any], Iterable[Any]], Iterable[Any]] = map,
    progress: Callable[[float], None] | None = None,
) -> Evaluation:
    """The mean of -log p(token | the other tokens of its window that are not masked with it).

    Every token but the first of the text, as in every evaluation, is predicted once: each window
    is read `passes` times, with other tokens masked each time, scattered as in training. (With one
    mask in each reading it would be the pseudo-log-likelihood of Salazar et al., "Masked Language
    Model Scoring", 2020, equation 1.)

    Args:
        model: an encoder.
        text: at least two tokens.
        context: tokens in a window; windows do not overlap.
        passes: how often each window is read.
        mask: the id of the mask.
        rows: windows in one piece of work.
        spread: how the pieces are worked through, `map` or over several threads.
        progress: hears the share that is done, 0 … 1, from time to time.

    Raises:
        TextError: if there are fewer than two tokens.
    """
    if len(text.ids) < 2:
        raise TextError(f"an evaluation needs at least 2 tokens; the text has {len(text.ids)}")
    tokens, done = len(text.ids) - 1, 0

    def judge(piece: Piece) -> tuple[float, int]:
        nonlocal done
        logits = model(piece.inputs)
        loss = float(ops.cross_entropy(logits, piece.targets))
        right = int((array_of(logits.argmax(-1)) == piece.targets).sum())
        done += piece.counted
        if progress:
            progress(done / tokens)
        return loss * piece.counted, right

    loss, right = 0.0, 0
    pieces = masked_windows(text.ids, context, passes, mask, rows)
    while found := list(spread(judge, islice(pieces, STRETCH))):
        loss += sum(each for each, _ in found)
        right += sum(each for _, each in found)
    return Evaluation(
        loss / tokens, tokens, text.characters, text.spelling, accuracy=right / tokens
    )


def masked_windows(
    ids: LongIds, context: int, passes: int, mask: int, rows: int
) -> Iterator[Piece]:
    """Windows over every position of `ids` but the first, each masked once; all in order.

    The last, shorter window comes in a piece of its own, so that nothing is padded.
    """
    whole = len(ids) // context
    for first in range(0, whole, rows):
        until = min(first + rows, whole)
        part = ids[first * context : until * context].astype(np.intp)
        yield from _masked(part.reshape(-1, context), passes, mask, first == 0)
    if len(ids) % context:
        yield from _masked(ids[whole * context :].astype(np.intp)[None], passes, mask, not whole)


def _masked(
    windows: Int[np.ndarray, "batch seq"], passes: int, mask: int, is_first: bool
) -> Iterator[Piece]:
    for hidden in scattered(windows.shape[1], passes):
        inputs, targets = np.array(windows), np.full_like(windows, IGNORED)
        inputs[:, hidden] = mask
        targets[:, hidden] = windows[:, hidden]
        if is_first:  # nothing predicts the first token of a text, in no evaluation
            inputs[0, 0], targets[0, 0] = windows[0, 0], IGNORED
        counted = int((targets != IGNORED).sum())
        if counted:
            yield Piece(inputs, targets, counted)


def scattered(length: int, passes: int) -> list[Int[np.ndarray, " positions"]]:
    """The positions 0 … length - 1, shared out to so many passes or fewer; always alike."""
    keys = random_numbers(ROUNDS, PATTERN, length)
    order = Permutation(length, keys).at(np.arange(length))
    return [np.sort(order[first::passes]) for first in range(min(passes, length))]
