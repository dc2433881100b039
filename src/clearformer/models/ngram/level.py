"""One level of an n-gram model: every k-gram that was seen, and how often."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from clearformer.models.part import Part
from clearformer.tensor import Float, Shaped

UNKNOWN_DISCOUNT = 0.75
"""Where the counts of counts do not give one; the usual guess."""


@dataclass(frozen=True)
class Level(Part):
    """The k-grams of a text, sorted; the place of one in this order is its rank.

    A k-gram is a context, the rank of its first k - 1 tokens one level below, and a last token.
    Those of a context lie side by side, by token. Nothing is hashed, so no two can be confused.
    """

    starts: Shaped[np.ndarray, " bounds"]
    """Where the k-grams of each context begin; one more entry than contexts."""
    tokens: Shaped[np.ndarray, " grams"]
    """The last token of each k-gram."""
    counts: Shaped[np.ndarray, " grams"]
    """c(hw), above 0: occurrences at the highest level, below it how many tokens came before."""

    @cached_property
    def discounts(self) -> Float[np.ndarray, " counts"]:
        """What is taken off a count of 0, 1, 2, and 3 or more: (0, D1, D2, D3+).

        With n_i the number of k-grams of count i, and Y = n_1 / (n_1 + 2 n_2):
        D_i = i - (i + 1) Y n_(i+1) / n_i  (Chen and Goodman, 1999).
        Where one of the n_i is 0 or a D_i not above 0, all three are Y (Kneser and Ney, 1995), and
        where that is no share below 1, `UNKNOWN_DISCOUNT`.
        """
        ones, twos, threes, fours = (int((self.counts == count).sum()) for count in range(1, 5))
        if not (ones and twos):
            return np.array([0.0] + [UNKNOWN_DISCOUNT] * 3)
        share = ones / (ones + 2 * twos)
        if threes and fours:
            second, third = 2 - 3 * share * threes / twos, 3 - 4 * share * fours / threes
            if min(second, third) > 0:
                return np.array([0.0, share, second, third])
        return np.array([0.0, share, share, share])

    @cached_property
    def totals(self) -> Float[np.ndarray, " contexts"]:
        """c(h·), the sum of the counts of each context."""
        return self._summed(self.counts)

    @cached_property
    def passed(self) -> Float[np.ndarray, " contexts"]:
        """γ(h), the share that a context leaves to the shorter one: Σ_w D(c(hw)) / c(h·).

        A context that nothing followed leaves everything.
        """
        taken = self._summed(self.discounts[np.minimum(self.counts, 3)])
        return np.divide(taken, self.totals, out=np.ones_like(taken), where=self.totals > 0)

    @cached_property
    def steps(self) -> int:
        """Halvings until one k-gram is left of the largest context."""
        return (int(self._sizes.max(initial=1)) - 1).bit_length()

    def own_share(
        self, contexts: Shaped[np.ndarray, " some"], grams: Shaped[np.ndarray, " some"]
    ) -> Float[np.ndarray, " some"]:
        """(c(hw) - D(c(hw))) / c(h·) of k-grams, given their ranks and those of their contexts."""
        counts = self.counts[grams]
        return (counts - self.discounts[np.minimum(counts, 3)]) / self.totals[contexts]

    def find(
        self, contexts: Shaped[np.ndarray, "..."], tokens: Shaped[np.ndarray, "..."]
    ) -> Shaped[np.ndarray, "..."]:
        """The ranks of context + token, -1 where it was not seen or the context is -1."""
        known = contexts >= 0
        at = contexts[known]
        place = self.starts[at].astype(np.int64)
        left = self.starts[at + 1].astype(np.int64) - place
        wanted = tokens[known]
        filled = left > 0
        known[known] = filled
        place, left, wanted = place[filled], left[filled], wanted[filled]
        for _ in range(self.steps):  # halves what is left, all at once
            half = left >> 1
            place += half * (self.tokens[place + half] <= wanted)
            left -= half
        found = np.full(contexts.shape, -1, np.int64)
        found[known] = np.where(self.tokens[place] == wanted, place, -1)
        return found

    @property
    def _sizes(self) -> np.ndarray:
        """How many k-grams each context has."""
        return self.starts[1:].astype(np.int64) - self.starts[:-1].astype(np.int64)

    def _summed(self, values: np.ndarray) -> Float[np.ndarray, " contexts"]:
        contexts = len(self.starts) - 1
        of = np.repeat(np.arange(contexts), self._sizes)
        sums = np.bincount(of, weights=values, minlength=contexts)
        return sums.astype(np.float64, copy=False)  # of nothing, NumPy gives whole numbers
