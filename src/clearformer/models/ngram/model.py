"""The n-gram model: interpolated, modified Kneser–Ney."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from clearformer.errors import ShapeError
from clearformer.models.ngram.counting import check_row
from clearformer.models.ngram.level import Level
from clearformer.models.part import Part
from clearformer.models.tap import Tap, silent
from clearformer.tensor import Float, Shaped

STRETCH = 2**18
"""Tokens that are looked up at once."""


@dataclass(frozen=True)
class NGram(Part):
    """Predicts the next token from how often each has followed the last ones.

    With h the last k - 1 tokens, h' without the first of them, c the counts of level k:

        p_k(w | h) = max(c(hw) - D(c(hw)), 0) / c(h·) + γ(h) p_(k-1)(w | h'),
        γ(h) = Σ_w D(c(hw)) / c(h·),   p_0(w) = 1 / vocabulary,

    and p_k = p_(k-1) for an h that nothing was seen to follow. Every token has a probability
    above 0. (Kneser and Ney, 1995; Chen and Goodman, 1999, "An empirical study of smoothing
    techniques for language modeling": modified Kneser–Ney, ended by the uniform distribution.)
    """

    levels: tuple[Level, ...]
    """Level k, the first being 1, holds the k-grams."""
    vocabulary: int

    @property
    def order(self) -> int:
        """The longest n-gram, in tokens; it sees order - 1 tokens back."""
        return len(self.levels)

    def __call__(
        self,
        ids: Shaped[Any, "batch seq"],
        tap: Tap = silent,
        rng: np.random.Generator | None = None,
    ) -> Float[np.ndarray, "batch seq vocab"]:
        """Log-probabilities (nats) of every token as the next one, at each position.

        A position sees itself and what is before it in its row. Nothing here is random: `rng` is
        there because other models have it. What it returns has no gradient.

        Raises:
            ShapeError: ids that are no tokens of the vocabulary.
        """
        ids = np.asarray(ids)
        check_row(ids, self.vocabulary)
        flat = self._mixed([ranks.reshape(-1) for ranks in self._contexts(ids)])
        return tap("logits", np.log(flat, out=flat).reshape(*ids.shape, self.vocabulary))

    def log_probabilities(
        self, ids: Sequence[int] | Shaped[np.ndarray, " seq"], start: int = 0
    ) -> Float[np.ndarray, " rest"]:
        """ln p of the tokens from place `start` on, each given its last order - 1 predecessors.

        Returns:
            Nats, one for each of the len(ids) - start tokens.

        Raises:
            ShapeError: ids that are no tokens of the vocabulary, or a start outside the row.
        """
        row = row_of(ids)
        check_row(row, self.vocabulary)
        if not 0 <= start <= len(row):
            raise ShapeError(f"start must be a place in {len(row)} tokens; got {start}")
        result = np.empty(len(row) - start)
        for first in range(start, len(row), STRETCH):
            seen = max(first - self.order + 1, 0)
            part = self._log_probabilities(row[seen : first + STRETCH])[first - seen :]
            result[first - start :][: len(part)] = part
        return result

    def loss(self, ids: Sequence[int] | Shaped[np.ndarray, " seq"], start: int = 0) -> float:
        """The mean of -ln p from place `start` on, in nats per token."""
        return -float(self.log_probabilities(ids, start).mean())

    def _contexts(self, ids: np.ndarray) -> Iterator[np.ndarray]:
        """For each level the rank of the context that ends at each place, itself included."""
        contexts = np.zeros(ids.shape, np.int64)
        yield contexts
        for level in self.levels[:-1]:
            grams = level.find(contexts, ids)
            yield grams
            contexts = _moved_on(grams)

    def _mixed(self, contexts: list[np.ndarray]) -> np.ndarray:
        """The distributions (rows, vocab), given the context of each row at each level."""
        result = np.full((len(contexts[0]), self.vocabulary), 1 / self.vocabulary)
        for level, ranks in zip(self.levels, contexts, strict=False):
            rows = np.flatnonzero(ranks >= 0)
            at = ranks[rows]
            passed = np.ones(len(ranks))
            passed[rows] = level.passed[at]
            result *= passed[:, None]
            begin, end = (level.starts[at + n].astype(np.int64) for n in (0, 1))
            sizes = end - begin
            first = np.repeat(begin - (np.cumsum(sizes) - sizes), sizes)
            grams = np.arange(len(first)) + first
            share = level.own_share(np.repeat(at, sizes), grams)
            result[np.repeat(rows, sizes), level.tokens[grams]] += share
        return result

    def _log_probabilities(self, row: np.ndarray) -> np.ndarray:
        chance = np.full(len(row), 1 / self.vocabulary)
        contexts = np.zeros(len(row), np.int64)
        for level in self.levels:
            grams = level.find(contexts, row)
            known, seen = contexts >= 0, grams >= 0
            chance[known] *= level.passed[contexts[known]]
            chance[seen] += level.own_share(contexts[seen], grams[seen])
            contexts = _moved_on(grams)
        return np.log(chance)


def _moved_on(ranks: np.ndarray) -> np.ndarray:
    """Each rank one place on; what begins a row has no context."""
    moved = np.full_like(ranks, -1)
    moved[..., 1:] = ranks[..., :-1]
    return moved


def row_of(ids: Any) -> np.ndarray:
    """Ids as one flat array; whether they are tokens is another question (`check_row`).

    Raises:
        ShapeError: ids with other axes.
    """
    row = np.asarray(ids)
    if row.ndim != 1:
        raise ShapeError(f"ids must be one flat row; got an array of shape {row.shape}")
    return row if row.size and row.dtype != np.uint64 else row.astype(np.int64)
