"""Counting: every k-gram of a text, for all k up to the order, by sorting.

The k-gram that ends at place i is packed into one whole number, (rank of the (k-1)-gram that
ends at i - 1) · vocabulary + token at i. Ranks are below the length of the text, so the number is
exact for any order as long as length · vocabulary < 2⁶³, which is checked beforehand.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from clearformer.errors import ConfigurationError, ShapeError
from clearformer.models.ngram.level import Level
from clearformer.tensor import Shaped

LARGEST_ORDER = 32
"""Far beyond what helps; keeps a typing error from filling the memory."""


@dataclass(frozen=True)
class CountedLevel:
    """The k-grams of a text with both of their counts."""

    starts: Shaped[np.ndarray, " bounds"]
    tokens: Shaped[np.ndarray, " grams"]
    occurrences: Shaped[np.ndarray, " grams"]
    """How often each was seen: what counts at the highest level."""
    continuations: Shaped[np.ndarray, " grams"] | None
    """After how many different tokens each was seen, the start of the text counted as one: what
    counts below the highest level (Kneser and Ney, 1995). None at the last level counted."""

    def level(self, highest: bool) -> Level:
        """With the one or the other count."""
        counts = self.occurrences if highest or self.continuations is None else self.continuations
        return Level(self.starts, self.tokens, counts)


def sorting_bytes(tokens: int, grams: int) -> int:
    """The most memory that ranking the k-grams of one level takes, in bytes.

    At most 80 for each token. English by characters, to order 6, was measured at 50 for each of a
    million and 43 for each of ten million; the tables that stay take 2 for each of a million.

    Args:
        tokens: in the text.
        grams: different k-grams there can be.
    """
    return 48 * tokens + 32 * min(tokens, grams)


def check_sizes(tokens: int, vocabulary: int, order: int) -> None:
    """What cannot be counted is refused before it is begun.

    Raises:
        ConfigurationError: an order or a vocabulary out of range.
    """
    if not 1 <= order <= LARGEST_ORDER:
        raise ConfigurationError(
            f"the order of an n-gram model must be 1 … {LARGEST_ORDER} tokens; got {order}; try 6"
        )
    if vocabulary < 1 or max(tokens, 1) * vocabulary >= 2**63:
        raise ConfigurationError(
            f"an n-gram model packs {tokens:,} tokens times the vocabulary into 63 bits; "
            f"got vocabulary={vocabulary:,}; it must be 1 … {(2**63 - 1) // max(tokens, 1):,}"
        )


def check_row(ids: Shaped[np.ndarray, "..."], vocabulary: int) -> None:
    """Whole numbers, each a token of the vocabulary.

    Raises:
        ShapeError: if one is not.
    """
    if ids.dtype.kind not in "iu":
        raise ShapeError(f"ids must be whole numbers; got {ids.dtype}")
    if ids.size and not 0 <= int(ids.min()) <= int(ids.max()) < vocabulary:
        raise ShapeError(f"ids must be 0 … {vocabulary - 1}; got {ids.min()} … {ids.max()}")


def counted(
    ids: Shaped[np.ndarray, " tokens"], vocabulary: int, order: int, memory: int | None = None
) -> list[CountedLevel]:
    """The levels 1 … order of a text whose sizes are checked.

    Raises:
        ConfigurationError: a level that may not fit into `memory` bytes beside those before it.
    """
    found = list(_sorted_levels(ids, vocabulary, order, memory))
    longer = [tables[3] for tables in found[1:]] + [None]
    return [CountedLevel(*tables[:3], after) for tables, after in zip(found, longer, strict=True)]


Tables = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]
"""Of a level: starts, tokens, occurrences, and the continuations of the level below."""


def _sorted_levels(
    ids: np.ndarray, vocabulary: int, order: int, memory: int | None
) -> Iterator[Tables]:
    before = np.zeros(len(ids) + 1, np.int64)  # rank of the (k-1)-gram before place k-1, k, …
    contexts, kept = 1, 0
    for length in range(1, order + 1):
        needed = kept + sorting_bytes(len(ids), contexts * vocabulary)
        _refuse_too_much(len(ids), length, needed, memory)
        tables, before = _sorted_level(before, ids[length - 1 :], vocabulary, contexts)
        yield tables
        contexts = len(tables[1])
        kept += sum(table.nbytes for table in tables)


def _sorted_level(
    before: np.ndarray, ids: np.ndarray, vocabulary: int, contexts: int
) -> tuple[Tables, np.ndarray]:
    """The tables of a level, and the rank of the k-gram that ends at each place."""
    ranks, distinct, occurrences, examples = _ranked(
        before[:-1] * vocabulary + ids, contexts * vocabulary
    )
    # a k-gram without its first token ends where the k-gram ends: one place on in `before`
    shorter = np.bincount(before[1:][examples], minlength=contexts)
    if len(before):
        shorter[before[0]] += 1  # what stands at the start of the text follows the start
    starts = np.searchsorted(distinct, np.arange(contexts + 1) * vocabulary)
    tokens = _narrow(distinct % vocabulary)
    return (_narrow(starts), tokens, _narrow(occurrences), _narrow(shorter)), ranks


def _refuse_too_much(tokens: int, order: int, needed: int, memory: int | None) -> None:
    if memory is not None and needed > memory:
        raise ConfigurationError(
            f"counting {tokens:,} tokens up to order {order} may take {needed:,} bytes of memory "
            f"and there are {memory:,}; choose a smaller order or a shorter text"
        )


Ranked = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]
"""The rank of each key among the distinct ones; these, how often, and a place of each."""


def _ranked(keys: np.ndarray, possible: int) -> Ranked:
    """Ranks keys, all below `possible`: by a table of these if it is small, else by sorting."""
    return _ranked_by_table(keys, possible) if possible <= len(keys) else _ranked_by_sorting(keys)


def _ranked_by_table(keys: np.ndarray, possible: int) -> Ranked:
    frequencies = np.bincount(keys, minlength=possible)
    distinct = np.flatnonzero(frequencies)
    rank_of = np.cumsum(frequencies > 0) - 1
    examples = np.empty(possible, np.int64)
    examples[keys] = np.arange(len(keys))
    return rank_of[keys], distinct, frequencies[distinct], examples[distinct]


def _ranked_by_sorting(keys: np.ndarray) -> Ranked:
    order = keys.argsort()
    keys = keys[order]
    fresh = np.ones(len(keys), bool)
    np.not_equal(keys[1:], keys[:-1], out=fresh[1:])
    firsts = np.flatnonzero(fresh)
    distinct = keys[firsts]
    np.cumsum(fresh, out=keys)  # their memory serves for the ranks
    keys -= 1
    ranks = np.empty_like(keys)
    ranks[order] = keys
    return ranks, distinct, np.diff(firsts, append=len(keys)), order[firsts]


def _narrow(numbers: np.ndarray) -> np.ndarray:
    """In the smallest type that holds them: these tables are most of the model."""
    return numbers.astype(np.min_scalar_type(int(numbers.max(initial=0))))
