"""What is timed: a training step of a model, and attention alone."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from clearformer import ops
from clearformer.comparison.why.fading import seen_by
from clearformer.comparison.why.growth import Work
from clearformer.engines.tape import value_and_gradients
from clearformer.models.kind import Configuration
from clearformer.models.kinds import build
from clearformer.training.next_token import next_token_loss


def step_of(configuration: Configuration, lengths: Sequence[int]) -> Work:
    """A training step, forwards and backwards, on one sequence of the length.

    Args:
        configuration: of the model; what it knows does not matter, so its weights are fresh.
        lengths: that will be asked for; a model with a window gets one as long as the longest.
    """
    if seen_by(configuration) is not None:
        configuration = configuration.with_window(max(lengths))
    rng = np.random.default_rng(0)
    model = build(configuration, rng)
    weights = model.parameters()

    def loss(inputs: np.ndarray, targets: np.ndarray) -> Callable[..., Any]:
        def of(*leaves: Any) -> Any:
            by_path = dict(zip(weights, leaves, strict=True))
            return next_token_loss(
                model.with_parameters(lambda path, _: by_path[path]), inputs, targets
            )

        return of

    def work(length: int) -> Callable[[], Any]:
        ids = rng.integers(configuration.vocabulary, size=(1, length + 1))
        function = loss(ids[:, :-1], ids[:, 1:])
        return lambda: value_and_gradients(function, *weights.values())

    return work


LONGER = (3072, 4096)
"""Lengths that attention alone is measured at beside the others: there the square shows plainly."""


def attention_of(width: int) -> Work:
    """Causal attention alone, forwards and backwards, with one head of this width."""
    rng = np.random.default_rng(0)

    def work(length: int) -> Callable[[], Any]:
        sides = rng.standard_normal((3, 1, 1, length, width), np.float32)

        def function(query: Any, key: Any, value: Any) -> Any:
            return ops.attention(query, key, value, causal=True)

        return lambda: value_and_gradients(function, *sides)

    return work
