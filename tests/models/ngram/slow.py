"""Kneser–Ney as the equations say it, with dictionaries: slow, and nothing shared with the fast."""

from collections import Counter, defaultdict
from collections.abc import Sequence

Gram = tuple[int, ...]


class SlowNGram:
    """Chen and Goodman, 1999: modified Kneser–Ney, interpolated down to the uniform end."""

    def __init__(self, text: Sequence[int], vocabulary: int, order: int):
        self.vocabulary = vocabulary
        self.order = order
        self.counts: dict[int, dict[Gram, int]] = {}
        for length in range(1, order + 1):
            places = range(len(text) - length + 1)
            if length == order:
                self.counts[length] = Counter(tuple(text[i : i + length]) for i in places)
            else:
                before = defaultdict(set)
                for i in places:
                    before[tuple(text[i : i + length])].add(text[i - 1] if i else "start")
                self.counts[length] = {gram: len(tokens) for gram, tokens in before.items()}
        self.discounts = {k: self._discounts(counts) for k, counts in self.counts.items()}

    @staticmethod
    def _discounts(counts: dict[Gram, int]) -> tuple[float, float, float]:
        n = Counter(counts.values())
        if not n[1] or not n[2]:
            return 0.75, 0.75, 0.75
        y = n[1] / (n[1] + 2 * n[2])
        if n[3] and n[4]:
            d = (1 - 2 * y * n[2] / n[1], 2 - 3 * y * n[3] / n[2], 3 - 4 * y * n[4] / n[3])
            if min(d) > 0:
                return d
        return y, y, y

    def probability(self, token: int, history: Sequence[int]) -> float:
        context = tuple(history[max(len(history) - self.order + 1, 0) :])
        return self._probability(token, context)

    def _probability(self, token: int, context: Gram) -> float:
        level = len(context) + 1
        shorter = self._probability(token, context[1:]) if context else 1 / self.vocabulary
        following = {g: c for g, c in self.counts[level].items() if g[:-1] == context}
        if not following:
            return shorter
        d = self.discounts[level]
        total = sum(following.values())
        left = sum(d[min(c, 3) - 1] for c in following.values()) / total
        count = following.get((*context, token), 0)
        own = max(count - d[min(count, 3) - 1], 0) / total if count else 0.0
        return own + left * shorter
