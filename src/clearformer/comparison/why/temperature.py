"""What temperature does: it makes the next token more or less certain, and the text with it.

Scores are divided by the temperature before softmax: p_i ∝ exp(z_i / T). Near 0 the likeliest token
is always taken; at 1 the model says what it has learned; above, everything becomes alike (Ackley et
al., "A Learning Algorithm for Boltzmann Machines", 1985).
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from math import log
from typing import Any

import numpy as np

from clearformer.comparison.trained import Trained
from clearformer.comparison.why.fading import seen_by
from clearformer.comparison.why.numbers import kept_all
from clearformer.comparison.why.windows import most_written, windows_of
from clearformer.generation.generate import generate
from clearformer.generation.sampling import Sampling
from clearformer.tensor import Float

TEMPERATURES = (0.2, 0.4, 0.6, 0.8, 1.0, 1.2, 1.4, 1.6, 1.8, 2.0)

WINDOWS = 32
"""Stretches of held-out text over which the mean is taken."""

LONGEST = 64
"""Tokens in each of them."""

PROMPT, WRITTEN = 32, 200
"""Tokens that a sample begins with, and that it goes on for."""


@dataclass(frozen=True)
class Temperature:
    """Entropy, loss and text of one model at several temperatures."""

    name: str
    """Of the entrant."""
    temperatures: tuple[float, ...]
    entropy: tuple[float | None, ...]
    """Mean entropy of the next token over a held-out text, in bits per token."""
    loss: tuple[float | None, ...]
    """Mean -log2 p of the token that follows there, in bits per token: least near T = 1, unless
    the model is too sure or too unsure."""
    prompt: str
    """What each sample goes on from: a piece of the held-out text."""
    samples: tuple[str, ...]
    """What the model wrote, one for each temperature."""

    def to_json(self) -> dict[str, Any]:
        """A dictionary for JSON."""
        return {name: _list(value) for name, value in asdict(self).items()}

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> "Temperature":
        """The same from such a dictionary."""
        names = ("temperatures", "entropy", "loss", "samples")
        return cls(**{**document, **{name: tuple(document[name]) for name in names}})


def temperature_of(
    entrant: Trained,
    *,
    temperatures: Sequence[float] = TEMPERATURES,
    windows: int = WINDOWS,
    written: int = WRITTEN,
    seed: int = 0,
) -> Temperature | None:
    """What temperature does to a model of text; None where there is no text.

    Args:
        entrant: a model that predicts the next token.
        temperatures: above 0.
        windows: stretches of held-out text.
        written: tokens in a sample.
        seed: draws the tokens of the samples, each from the beginning.
    """
    tokenizer = entrant.tokenizer
    if tokenizer is None:
        return None
    length = min(seen_by(entrant.configuration) or LONGEST, LONGEST)
    ids = windows_of(entrant.held_out, length + 1, windows)
    scores = np.asarray(entrant.model(ids[:, :-1]), np.float64)
    found = [_entropy_and_loss(scores / heat, ids[:, 1:]) for heat in temperatures]
    prompt = most_written(ids[:, :PROMPT], entrant.vocabulary).tolist()
    samples = [
        tokenizer.decode(_written(entrant, prompt, written, heat, seed)) for heat in temperatures
    ]
    return Temperature(
        entrant.name,
        tuple(temperatures),
        kept_all(entropy for entropy, _ in found),
        kept_all(loss for _, loss in found),
        tokenizer.decode(prompt),
        tuple(samples),
    )


def _entropy_and_loss(
    scores: Float[np.ndarray, "rows seq vocab"], targets: Any
) -> tuple[float, float]:
    """Means over all positions, in bits."""
    scores = scores - scores.max(-1, keepdims=True)
    shares = np.exp(scores)
    totals = shares.sum(-1, keepdims=True)
    logarithms = scores - np.log(totals)
    entropy = -(shares / totals * logarithms).sum(-1).mean()
    loss = -np.take_along_axis(logarithms, targets[..., None], -1).mean()
    return float(entropy) / log(2), float(loss) / log(2)


def _written(
    entrant: Trained, prompt: list[int], tokens: int, temperature: float, seed: int
) -> list[int]:
    """The ids that a model goes on with."""
    rng = np.random.default_rng(seed)
    drawing: Any = {
        "context": seen_by(entrant.configuration),
        "sampling": Sampling(temperature),
        "rng": rng,
    }
    return list(generate(entrant.model, prompt, tokens, **drawing))


def _list(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value
