"""The same measurements on models that read a source and write a target.

They have no single sequence, so the source takes its place: how much the first word that is written
depends on the source k places before its end, and what a source and a target of some length cost.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from clearformer import ops
from clearformer.comparison.why.fading import awake
from clearformer.comparison.why.growth import Work
from clearformer.engines.tape import value_and_gradients
from clearformer.models.embedding import Embedding
from clearformer.models.kind import Configuration
from clearformer.models.kinds import build
from clearformer.tensor import Float, Int


@dataclass(frozen=True, repr=False)
class Handed(Embedding):
    """An embedding that gives vectors of one's own for the source, so that they have a gradient."""

    source: Int[np.ndarray, "batch source"]
    vectors: Any

    def __call__(self, ids: Any) -> Any:
        """The vectors for the source itself, the rows of the table for all else."""
        return self.vectors if ids is self.source else super().__call__(ids)


def source_norms(
    configuration: Configuration, length: int, rows: int = 16, seed: int = 0
) -> Float[np.ndarray, " back"]:
    """Mean |dL/dx| over random sources, from the last token (k = 0) to the first, of fresh weights.

    L is the loss of the first token that is written, x the vector of a token of the source.
    """
    rng = np.random.default_rng([seed, 0])
    model: Any = awake(build(configuration, rng, np.float64), seed)
    source = rng.integers(configuration.vocabulary, size=(rows, length))
    begins = np.full((rows, 1), configuration.vocabulary)
    targets = rng.integers(configuration.vocabulary, size=(rows, 1))

    def loss(vectors: Any) -> Any:
        handed = replace(model, embedding=Handed(model.embedding.table, source, vectors))
        mean = ops.cross_entropy(handed(source, begins), targets)
        return ops.multiply(mean, float(rows))  # the sum, so that each row's gradient is its own

    _, (gradient,) = value_and_gradients(loss, np.asarray(model.embedding(source)))
    mean: np.ndarray = np.sqrt(np.square(gradient).sum(-1)).mean(0)[::-1]
    return mean


def pair_step_of(configuration: Configuration) -> Work:
    """A training step on one source and one target of the length."""
    rng = np.random.default_rng(0)
    model: Any = build(configuration, rng)
    weights = model.parameters()

    def work(length: int) -> Callable[[], Any]:
        source, inputs, targets = rng.integers(configuration.vocabulary, size=(3, 1, length))

        def loss(*leaves: Any) -> Any:
            by_path = dict(zip(weights, leaves, strict=True))
            reading = model.with_parameters(lambda path, _: by_path[path])
            return ops.cross_entropy(reading(source, inputs), targets)

        return lambda: value_and_gradients(loss, *weights.values())

    return work
