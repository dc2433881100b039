"""How well a model predicts a text: over every position, not a sample."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import islice
from math import log
from typing import Any

from clearformer.models.measures import perplexity_of
from clearformer.text.batches import windows
from clearformer.training.judged import Judged
from clearformer.training.next_token import next_token_loss

ROWS = 32
"""Windows in one piece of work: large enough for quick products, small enough to share out."""

STRETCH = 4096
"""Pieces of work whose losses are in memory at once."""

LARGEST_LOGITS = 2**24
"""Scores in one piece of work: 64 MiB of float32, of which each thread holds about three."""


@dataclass(frozen=True)
class Evaluation:
    """The loss of a model on a text."""

    loss: float
    """Nats per token."""
    tokens: int
    """Predictions made: every token but the first."""
    characters: int
    """Characters of the original text that these tokens stand for."""
    spelling: float = 0.0
    """Nats for what the vocabulary lacks, spelled byte by byte (see `judged`)."""
    accuracy: float | None = None
    """Share of answers that are right: whole ones, or masked tokens; None where none is given."""

    @property
    def perplexity(self) -> float:
        """exp(loss): among how many equally likely tokens the model is undecided."""
        return perplexity_of(self.loss)

    @property
    def bits_per_character(self) -> float:
        """Comparable across tokenizers: the loss of the whole text in bits, per character."""
        nats = self.loss * self.tokens + self.spelling
        return nats / max(self.characters, 1) / log(2)


def rows_for(context: int, vocabulary: int) -> int:
    """Windows in one piece of work, fewer where a large vocabulary would fill the memory."""
    return max(1, min(ROWS, LARGEST_LOGITS // (context * vocabulary)))


def evaluate(
    model: Any,
    text: Judged,
    *,
    context: int,
    stride: int | None = None,
    rows: int = ROWS,
    spread: Callable[[Callable[[Any], Any], Iterable[Any]], Iterable[Any]] = map,
    progress: Callable[[float], None] | None = None,
) -> Evaluation:
    """The loss over every position of `text`, each once, in windows of `context`.

    Args:
        model: gives logits for ids.
        text: at least two tokens.
        context: tokens a window holds; its first ones are predicted from little.
        stride: tokens by which the window moves on. Unless given it moves on by all of it, so that
            windows do not overlap. With less each token, but those at the beginning, is predicted
            from at least `context - stride`, and context / stride times as much is computed.
        rows: windows in one piece of work.
        spread: how the windows are worked through, `map` or over several threads.
        progress: hears the share that is done, 0 … 1, from time to time.

    Raises:
        ConfigurationError: a stride that is not from 1 to `context`.
        TextError: if there are fewer than two tokens.
    """
    tokens, done = len(text.ids) - 1, 0

    def total(piece: tuple[Any, Any, int]) -> float:
        nonlocal done
        inputs, targets, counted = piece
        loss = float(next_token_loss(model, inputs, targets))
        done += counted
        if progress:
            progress(done / tokens)
        return loss * counted

    pieces, loss = windows(text.ids, context, rows, stride), 0.0
    while losses := list(spread(total, islice(pieces, STRETCH))):
        loss += sum(losses)
    return Evaluation(loss / tokens, tokens, text.characters, text.spelling)
