"""What reaches back: how much the loss at the last position depends on each input before it.

A recurrent model sends the gradient back through one state, step by step, and each step multiplies
it by the same matrix and the slope of the same bend: it shrinks or grows like a power (Bengio et
al., "Learning long-term dependencies with gradient descent is difficult", 1994; Pascanu et al., "On
the difficulty of training recurrent neural networks", 2013, section 2.1). Attention has one step to
every position.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from math import sqrt
from typing import Any

import numpy as np

from clearformer import ops
from clearformer.comparison.trained import Trained
from clearformer.comparison.why.numbers import kept_all
from clearformer.comparison.why.windows import windows_of
from clearformer.engines.tape import value_and_gradients
from clearformer.models.kinds import build
from clearformer.tensor import Float, Int

REACH = 256
"""Steps back that are looked at, where a model has no window."""

WINDOWS = 32
"""Stretches of text over which the mean is taken."""

TRACES = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)
"""Steps back that a table shows."""


@dataclass(frozen=True)
class Fading:
    """Mean norms of dL/dx, with L the loss at the last position and x the vector k steps before."""

    name: str
    """Of the entrant."""
    trained: tuple[float | None, ...]
    """After training; the place in it is k, from 0 for the last input itself."""
    fresh: tuple[float | None, ...]
    """The same before training."""
    windows: int
    """Stretches of text over which the mean is taken."""

    @property
    def reach(self) -> int:
        """The largest k."""
        return len(self.trained) - 1

    def relative(self, back: int, *, fresh: bool = False) -> float | None:
        """The norm `back` steps before, as a share of the one a single step before.

        None where either is unknown.
        """
        norms = self.fresh if fresh else self.trained
        if not 0 <= back < len(norms) or len(norms) < 2:
            return None
        here, near = norms[back], norms[1]
        return here / near if near and here is not None else None

    def to_json(self) -> dict[str, Any]:
        """A dictionary for JSON."""
        return {**asdict(self), "trained": list(self.trained), "fresh": list(self.fresh)}

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> "Fading":
        """The same from such a dictionary."""
        norms = {name: tuple(document[name]) for name in ("trained", "fresh")}
        return cls(**{**document, **norms})


def fading_of(
    entrant: Trained, *, reach: int = REACH, windows: int = WINDOWS, seed: int = 0
) -> Fading:
    """How the gradient fades on its way back through a model, trained and fresh.

    Args:
        entrant: a model that predicts the next token and takes vectors (`from_vectors`).
        reach: steps back, fewer where the model sees fewer.
        windows: stretches of text.
        seed: draws the fresh weights.
    """
    sees = seen_by(entrant.configuration)
    inputs = reach + 1 if sees is None else min(reach + 1, sees)
    ids = windows_of(entrant.held_out, inputs + 1, windows)
    fresh = awake(build(entrant.configuration, np.random.default_rng([seed, 0])), seed)
    return Fading(
        entrant.name,
        kept_all(gradient_norms(entrant.model, ids)),
        kept_all(gradient_norms(fresh, ids)),
        len(ids),
    )


def gradient_norms(model: Any, ids: Int[np.ndarray, "rows seq"]) -> Float[np.ndarray, " back"]:
    """The mean over rows of |dL/dx|, from the last input (k = 0) to the first.

    L is the loss of the last of `ids`, in nats, given all before it; x the vector of one of those.
    Computed in float64: float32 would call 0 what is below 1e-38.
    """
    model = model.with_parameters(lambda _, parameter: parameter.astype(np.float64))
    inputs, last = ids[:, :-1], ids[:, -1]
    targets = np.full_like(inputs, -100)
    targets[:, -1] = last
    rows = len(ids)

    def loss(vectors: Any) -> Any:  # the sum over rows, so that each row's gradient is its own
        logits = model.from_vectors(vectors)
        return ops.multiply(ops.cross_entropy(logits, targets), float(rows))

    _, (gradient,) = value_and_gradients(loss, np.asarray(model.embedding(inputs)))
    norms = np.sqrt(np.square(gradient).sum(-1))
    mean: np.ndarray = norms.mean(0)[::-1]
    return mean


def awake(model: Any, seed: int = 0) -> Any:
    """A fresh model whose matrices that begin at zero are drawn like the others.

    Through a matrix of zeros nothing goes back: that trick of beginning gently would hide what is
    looked for.
    """
    rng = np.random.default_rng([seed, 1])

    def drawn(_: str, parameter: Any) -> Any:
        if parameter.ndim < 2 or parameter.any():
            return parameter
        rows = parameter.shape[-2]
        return (rng.standard_normal(parameter.shape) / sqrt(rows)).astype(parameter.dtype)

    return model.with_parameters(drawn)


def seen_by(configuration: Any) -> int | None:
    """Tokens that a model sees at once; None if there is no limit."""
    found: int | None = getattr(configuration, "sees", configuration.window)
    return found
