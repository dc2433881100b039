"""Text from a Markov source: the best that any model can reach on it is known exactly."""

from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property
from math import log

import numpy as np

from clearformer.errors import ConfigurationError
from clearformer.tensor import Float, Shaped

LARGEST_TABLE = 2**22
"""Probabilities in the table of a source."""

SMALLEST = 1e-9
"""No transition is less likely, so that every context comes after every other in the end."""

SOLVED = 1024
"""Up to so many contexts the stationary distribution is solved for, beyond it is iterated."""

ROUNDS = 100_000


@dataclass(frozen=True, eq=False)
class MarkovSource:
    """Draws each token by the `order` tokens before it, by a table of probabilities.

    A context is numbered as its tokens are written in base `alphabet`, the latest one last.
    """

    table: Float[np.ndarray, "contexts alphabet"]
    """p(w | h), each row a distribution; every number above 0, which makes the source ergodic."""
    order: int
    """Tokens that the next one depends on, 0 for none."""

    def __post_init__(self) -> None:
        check_size(self.order, self.alphabet)
        if self.table.shape != (self.alphabet**self.order, self.alphabet):
            raise ConfigurationError(
                f"a Markov source of order {self.order} over {self.alphabet} tokens has a table "
                f"of {self.alphabet**self.order} rows; got {self.table.shape}"
            )
        sums = self.table.sum(1)
        if not (self.table >= SMALLEST).all() or not (abs(sums - 1) < 1e-9).all():
            raise ConfigurationError(
                f"each row of a Markov source must add up to 1, of numbers of at least {SMALLEST}; "
                f"got {self.table.min()} as the smallest, sums {sums.min()} … {sums.max()}"
            )

    @property
    def alphabet(self) -> int:
        """How many tokens there are."""
        return int(self.table.shape[-1])

    @cached_property
    def stationary(self) -> Float[np.ndarray, " contexts"]:
        """π, the share of places at which each context stands: π(h) = Σ_g π(g) p(g → h).

        Raises:
            ConfigurationError: a large source that forgets too slowly for it to be found.
        """
        contexts = len(self.table)
        if contexts <= SOLVED:
            return self._solved()
        share = np.full(contexts, 1 / contexts)
        for _ in range(ROUNDS):
            share, before = self._moved(share), share
            if abs(share - before).sum() < 1e-15 * len(share) ** 0.5:
                return share / share.sum()
        raise ConfigurationError(
            f"the stationary distribution of this Markov source of {contexts:,} contexts is not "
            f"found in {ROUNDS:,} rounds; choose a smaller order or a larger concentration"
        )

    @property
    def entropy_rate(self) -> float:
        """H = -Σ_h π(h) Σ_w p(w | h) ln p(w | h), in nats per token.

        No model that sees what came before can have a lower loss on endless text of this source
        (Shannon, 1948, section 7).
        """
        return self.best_loss(self.order)

    @property
    def entropy_rate_bits(self) -> float:
        """The entropy rate in bits per token."""
        return self.entropy_rate / log(2)

    def best_loss(self, window: int) -> float:
        """The loss of the best predictor that sees only the last `window` tokens, in nats.

        It is the conditional entropy of a token given as many before it; from the order on it is
        the entropy rate, with 0 the entropy of single tokens.

        Raises:
            ConfigurationError: a window below 0.
        """
        if window < 0:
            raise ConfigurationError(f"a window must hold 0 tokens or more; got {window}")
        seen = min(window, self.order)
        joint = self.stationary[:, None] * self.table  # of a context and the next token
        joint = joint.reshape(-1, self.alphabet**seen, self.alphabet).sum(0)
        given = joint / joint.sum(1, keepdims=True)
        return -float((joint * np.log(given)).sum())

    def draw(self, rng: np.random.Generator, length: int) -> Shaped[np.ndarray, " length"]:
        """So many tokens, int64; the first ones are drawn from the stationary distribution.

        Raises:
            ConfigurationError: a length below 0.
        """
        if length < 0:
            raise ConfigurationError(f"the length of a text must be 0 or more; got {length}")
        context = int(rng.choice(len(self.table), p=self.stationary))
        first = [context // self.alphabet**n % self.alphabet for n in range(self.order)][::-1]
        rest = self._drawn(context, rng.random(max(length - self.order, 0)).tolist())
        return np.array((first + rest)[:length], np.int64)

    def _drawn(self, context: int, luck: list[float]) -> list[int]:
        # one token after another: plain lists are several times quicker here than arrays
        size, contexts = self.alphabet, len(self.table)
        up_to, last, drawn = self._cumulative, size - 1, []
        for chance in luck:
            begin = context * size
            token = bisect_right(up_to, chance, begin, begin + last) - begin
            drawn.append(token)
            context = (begin + token) % contexts
        return drawn

    @cached_property
    def _cumulative(self) -> list[float]:
        found: list[float] = self.table.cumsum(1).reshape(-1).tolist()
        return found

    def _moved(self, share: np.ndarray) -> np.ndarray:
        """The distribution of contexts one token later."""
        joint = share[:, None] * self.table  # the first token of a context is its first digit
        return joint.reshape(-1, len(share)).sum(0)

    def _solved(self) -> np.ndarray:
        """π P = π with Σ π = 1, which takes the place of one of the equations."""
        contexts = len(self.table)
        equations = np.zeros((contexts, contexts))
        now = np.arange(contexts)[:, None]
        later = (now * self.alphabet + np.arange(self.alphabet)) % contexts
        np.add.at(equations, (later, now), self.table)
        equations[np.arange(contexts), np.arange(contexts)] -= 1
        equations[-1] = 1
        share = np.linalg.solve(equations, np.eye(contexts)[-1])
        share = np.maximum(share, 0)
        return share / share.sum()


def random_source(
    order: int,
    alphabet: int,
    seed: int,
    *,
    concentration: float = 0.3,
    floor: float = 1e-3,
) -> MarkovSource:
    """A source whose rows are drawn from a Dirichlet distribution, the same for the same seed.

    Args:
        order: tokens that the next one depends on.
        alphabet: how many tokens there are.
        seed: of the table.
        concentration: of the Dirichlet distribution, for each token; small ones make a few
            tokens likely after each context, large ones all alike.
        floor: the share of each row that is spread evenly, so that everything can follow.

    Raises:
        ConfigurationError: numbers that cannot be, or a table that would be too large.
    """
    check_size(order, alphabet)
    if not 0 < concentration < float("inf") or not alphabet * SMALLEST < floor <= 1:
        raise ConfigurationError(
            "a random source needs a concentration above 0 and a floor above "
            f"{alphabet * SMALLEST} and at most 1; got {concentration} and {floor}"
        )
    draws = np.random.default_rng(seed).gamma(concentration, size=(alphabet**order, alphabet))
    draws += np.finfo(np.float64).tiny  # a row of nothing but zeros would be no distribution
    rows = draws / draws.sum(1, keepdims=True)
    return MarkovSource((1 - floor) * rows + floor / alphabet, order)


def check_size(order: int, alphabet: int) -> None:
    """Whether a table of this order and alphabet can be.

    Raises:
        ConfigurationError: if not.
    """
    if order < 0 or alphabet < 1 or (alphabet > 1 and order > 64):
        raise ConfigurationError(
            f"a Markov source needs an order of 0 … 64 and at least 1 token; got order={order}, "
            f"alphabet={alphabet}"
        )
    if alphabet ** (order + 1) > LARGEST_TABLE:
        raise ConfigurationError(
            f"a Markov source of order {order} over {alphabet} tokens has a table of "
            f"{alphabet ** (order + 1):,} probabilities; at most {LARGEST_TABLE:,} can be; choose "
            "a smaller order or alphabet"
        )
