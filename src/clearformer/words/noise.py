"""What is drawn at random: words of noise, and which frequent words are passed over."""

import numpy as np

from clearformer.tensor import Float, Int

POWER = 0.75
"""Of the counts, for noise: rare words come up more often than in the text (section 2.2)."""


def noise_shares(counts: Int[np.ndarray, " vocab"]) -> Float[np.ndarray, " vocab"]:
    """How likely each word is as noise: its count to the power of 3/4, adding up to one."""
    raised = counts.astype(np.float64) ** POWER
    return np.asarray(raised / raised.sum())


def kept_shares(counts: Int[np.ndarray, " vocab"], threshold: float) -> Float[np.ndarray, " vocab"]:
    """How likely an occurrence of each word is kept: √(t/f), at most 1.

    f is the word's share of the text. (Mikolov et al., 2013, equation 5: the rest is discarded.)
    """
    return np.asarray(np.minimum(1.0, np.sqrt(threshold * counts.sum() / counts)))


class Noise:
    """Draws words by their shares: a number between 0 and 1 is looked for in the sums so far."""

    def __init__(self, shares: Float[np.ndarray, " vocab"]) -> None:
        sums = np.cumsum(shares)
        self._sums = sums / sums[-1]  # the last is exactly 1, which no draw reaches

    def draw(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Int[np.ndarray, "..."]:
        """Words of noise."""
        return np.searchsorted(self._sums, rng.random(shape), side="right")
