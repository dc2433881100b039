"""Choosing the next token from the logits."""

from dataclasses import dataclass
from math import isfinite, nextafter
from numbers import Integral, Real
from typing import Any

import numpy as np

from clearformer.errors import ConfigurationError, NotFiniteError, ShapeError
from clearformer.tensor import Float

SMALLEST_TEMPERATURE = 1e-30
"""Its inverse is still a float32; the smallest lead that a float32 can show then decides."""


BLOCK = 256
"""Tokens whose probabilities are added up first, about the root of a large vocabulary."""


@dataclass(frozen=True)
class Sampling:
    """How a token is drawn, in this order: temperature, top-k, top-p."""

    temperature: float = 0.8
    """Divides the logits; below 1 sharpens, above 1 flattens, 0 always takes the most likely."""
    top_k: int | None = None
    """Only the k most likely tokens."""
    top_p: float | None = None
    """Only the most likely tokens that together reach p, the one that crosses it included."""

    @property
    def is_plain(self) -> bool:
        """Whether every token may be drawn."""
        return self.top_k is None and (self.top_p is None or self.top_p >= 1)

    @property
    def factor(self) -> float:
        """What differences of logits are multiplied by; 0 for the most likely token alone."""
        return 1 / max(self.temperature, SMALLEST_TEMPERATURE) if self.temperature else 0.0

    def __post_init__(self) -> None:
        warm = isinstance(self.temperature, Real) and isfinite(self.temperature)
        if not (warm and self.temperature >= 0):
            raise ConfigurationError(
                f"temperature must be 0 (greedy) or above; got {self.temperature}"
            )
        if self.top_k is not None and not (isinstance(self.top_k, Integral) and self.top_k >= 1):
            raise ConfigurationError(f"top_k must be at least 1; got {self.top_k}")
        if self.top_p is not None and not (isinstance(self.top_p, Real) and 0 < self.top_p <= 1):
            raise ConfigurationError(f"top_p must be above 0 and at most 1; got {self.top_p}")


def probabilities(
    logits: Float[np.ndarray, " vocab"], sampling: Sampling
) -> Float[np.ndarray, " vocab"]:
    """The distribution that `sample` draws from: what was cut has 0, the rest adds up to 1.

    (Top-k: Fan et al., 2018, section 5.1; top-p: Holtzman et al., 2020, equations 2 and 3.)
    """
    if sampling.temperature == 0:
        chosen = np.zeros_like(logits)
        chosen[int(logits.argmax())] = 1
        return chosen
    share = _unnormalised(logits, sampling)
    return share / share.sum()


def _unnormalised(
    logits: Float[np.ndarray, " vocab"], sampling: Sampling
) -> Float[np.ndarray, " vocab"]:
    """The distribution up to a factor; the most likely token has 1."""
    # the largest becomes 0 before the division, which so cannot overflow
    highest = logits[logits.argmax()]  # the first that is no number, if any is; as maximum.reduce
    _check_finite(highest)
    with np.errstate(over="ignore"):  # what is so far below has no probability
        share = logits - highest
        share *= sampling.factor
    np.exp(share, out=share)
    if sampling.top_k is not None and sampling.top_k < len(share):
        share[np.argpartition(share, -sampling.top_k)[: -sampling.top_k]] = 0
    if sampling.top_p is not None and sampling.top_p < 1:
        share = _nucleus(share, sampling.top_p)
    return share


def _nucleus(share: Float[np.ndarray, " vocab"], top_p: float) -> Float[np.ndarray, " vocab"]:
    """The most likely tokens that together reach p of the sum; 0 elsewhere.

    All that have less than (1 - p) / vocab of the sum have together less than 1 - p of it, so the
    others reach p without them and only those need sorting; the half is for rounding.
    """
    total = share.sum(dtype=np.float64)
    likely = np.flatnonzero(share >= (1 - top_p) * total / len(share) / 2)
    order = likely[np.argsort(-share[likely], kind="stable")]
    up_to = np.cumsum(share[order], dtype=np.float64)
    before = np.concatenate([[0.0], up_to[:-1]])
    kept = order[before < top_p * total]
    nucleus = np.zeros_like(share)
    nucleus[kept] = share[kept]
    return nucleus


def _check_finite(highest: Any) -> None:
    if not isfinite(highest):
        raise NotFiniteError(f"the largest of the logits must be a finite number; got {highest}")


def sample(
    logits: Float[np.ndarray, " vocab"],
    *,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    rng: np.random.Generator | None = None,
) -> int:
    """Draws one token id from the logits (vocab,).

    Args:
        logits: one score per token.
        temperature: divides the logits; 0 takes the most likely token.
        top_k: only the k most likely tokens.
        top_p: only the most likely tokens that together reach p; the one that crosses p is kept.
        rng: a generator; a fresh one, differently seeded each time, unless given.

    Raises:
        ConfigurationError: if a number is out of its range.
    """
    settings = Sampling(temperature, top_k, top_p)
    scores = np.asarray(logits)
    if scores.ndim != 1 or not scores.size:
        raise ShapeError(f"logits must be one row with at least one number; got {scores.shape}")
    if scores.dtype not in (np.float32, np.float64):  # float16 holds no 1 / temperature
        scores = scores.astype(np.float64)
    return draw(scores, settings, rng or np.random.default_rng())


def draw(logits: Float[np.ndarray, " vocab"], sampling: Sampling, rng: np.random.Generator) -> int:
    """One token id; with temperature 0 the most likely one."""
    if sampling.temperature == 0:
        chosen = int(logits.argmax())
        _check_finite(logits[chosen])
        return chosen
    share, start, goal = _unnormalised(logits, sampling), 0, rng.random()
    if len(share) <= BLOCK:
        cumulative = np.add.accumulate(share, dtype=np.float64)  # what cumsum calls
        return _reached(cumulative, goal * float(cumulative[-1]))
    # a sum for each block first: adding up one by one takes twenty times as long
    ends = np.add.reduceat(share, np.arange(0, len(share), BLOCK), dtype=np.float64).cumsum()
    goal *= float(ends[-1])
    if block := _reached(ends, goal):
        start, goal = block * BLOCK, goal - float(ends[block - 1])
    return start + _reached(share[start : start + BLOCK].cumsum(dtype=np.float64), goal)


def _reached(cumulative: np.ndarray, goal: float) -> int:
    """The first place that is above the goal.

    Where rounding has put the goal above all, the last one that adds something: one that does not
    has probability 0.
    """
    return int(cumulative.searchsorted(min(goal, nextafter(float(cumulative[-1]), 0)), "right"))
