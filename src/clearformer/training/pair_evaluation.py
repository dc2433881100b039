"""How well a model writes the targets of pairs: over all of them, not a sample."""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from clearformer import ops
from clearformer.models.pairs.marks import begin_of, end_of
from clearformer.models.pairs.search import search
from clearformer.text.batches import IGNORED
from clearformer.text.pair_ids import side_by_side
from clearformer.training.evaluation import Evaluation
from clearformer.training.judged_pairs import JudgedPairs

ROWS = 64
"""Pairs in one piece of work."""

ANSWERED = 2000
"""Pairs of which the answers are compared; they lie evenly among all."""

Spread = Callable[[Callable[[Any], Any], Iterable[Any]], Iterable[Any]]


def evaluate_pairs(
    model: Any,
    judged: JudgedPairs,
    *,
    longest: int,
    spread: Spread = map,
    progress: Callable[[float], None] | None = None,
) -> Evaluation:
    """The loss over every token of every target, and the share of answers that are right.

    The loss is that of a target of which everything before is known. An answer is written from the
    source alone, the likeliest token at each step, and right if it is the target, character by
    character.

    Args:
        model: on pairs. One that several processes have shared out among them is called, and
            cannot answer.
        judged: at least one pair.
        longest: tokens of an answer, its end included.
        spread: how pieces of the work are gone through, `map` or over several threads.
        progress: hears the share that is done, 0 … 1, from time to time.
    """
    pairs, done = judged.pairs, 0
    answered = min(ANSWERED, len(pairs)) if hasattr(model, "encode") else 0
    asked = np.arange(answered) * len(pairs) // max(answered, 1)
    work = len(pairs) + len(asked)

    def heard(count: int) -> None:
        nonlocal done
        done += count
        if progress:
            progress(done / work)

    def loss_of(numbers: np.ndarray) -> float:
        loss = _loss(model, judged, numbers)
        heard(len(numbers))
        return loss

    def right_in(numbers: np.ndarray) -> int:
        right = _right(model, judged, numbers, longest)
        heard(len(numbers))
        return right

    by_length = np.argsort(pairs.sources.lengths, kind="stable")  # little has to be filled up
    loss = sum(spread(loss_of, _pieces(by_length)))
    right = sum(spread(right_in, _pieces(asked)))
    return Evaluation(
        loss / pairs.tokens,
        pairs.tokens,
        judged.characters,
        judged.spelling,
        right / answered if answered else None,
    )


def _pieces(numbers: np.ndarray) -> list[np.ndarray]:
    return [numbers[first : first + ROWS] for first in range(0, len(numbers), ROWS)]


def _loss(model: Any, judged: JudgedPairs, numbers: np.ndarray) -> float:
    """The sum over some pairs, in nats."""
    vocabulary = judged.tokenizer.vocabulary_size
    sources, targets = judged.pairs.sources, judged.pairs.targets
    begin, end = begin_of(vocabulary), end_of(vocabulary)
    read, lengths = side_by_side([sources.text(n) for n in numbers], end)
    told, counted = side_by_side([targets.text(n) for n in numbers], end, begin)
    wanted, _ = side_by_side([targets.text(n) for n in numbers], end)
    wanted[np.arange(wanted.shape[1]) >= counted[:, None]] = IGNORED
    mean = float(ops.cross_entropy(model(read, inputs=told, lengths=lengths), wanted, IGNORED))
    return mean * int(counted.sum())


def _right(model: Any, judged: JudgedPairs, numbers: np.ndarray, longest: int) -> int:
    """How many of some pairs are answered rightly."""
    tokenizer, sources = judged.tokenizer, judged.pairs.sources
    read, lengths = side_by_side([sources.text(n) for n in numbers], end_of(model.vocabulary))
    never = tokenizer.control_ids
    answers = search(model, read, lengths, longest=longest, never=never)
    return sum(
        answer.ended and tokenizer.decode(answer.ids) == judged.targets[number]
        for answer, number in zip(answers, numbers, strict=True)
    )
