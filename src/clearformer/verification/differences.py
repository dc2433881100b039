"""Finite differences: what a gradient is held against where there is no second engine."""

from collections.abc import Iterator, Sequence

import numpy as np

from clearformer.verification.sides import Function, Outcome

STEP = 1e-5
"""How far to either side: rounding then costs 1e-11, and the third derivative 2e-11 of itself."""

MOST_ENTRIES = 8
"""So many entries of an array are moved one by one."""


def against_differences(
    function: Function, outcome: Outcome
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Pairs of slopes of L = Σ seed · function: from the gradients, and from central differences.

    Every entry by itself (of large arrays a random choice of them), then all entries at once along
    a random direction, which a mistake in any entry would turn.
    """
    rng = np.random.default_rng(2)
    for direction in _directions(outcome.inputs, rng):
        along = sum(float((g * d).sum()) for g, d in zip(outcome.gradients, direction, strict=True))
        yield np.asarray(along), np.asarray(_slope(function, outcome, direction))


def _directions(
    arrays: Sequence[np.ndarray], rng: np.random.Generator
) -> Iterator[list[np.ndarray]]:
    for position, x in enumerate(arrays):
        for place in rng.permutation(x.size)[:MOST_ENTRIES]:
            direction = [np.zeros_like(x) for x in arrays]
            direction[position].flat[place] = 1
            yield direction
    anywhere = [rng.normal(size=x.shape) for x in arrays]
    length = np.sqrt(sum(float((x**2).sum()) for x in anywhere))
    yield [x / length for x in anywhere]  # or a step would cross the bends of many units


def _slope(function: Function, outcome: Outcome, direction: Sequence[np.ndarray]) -> float:
    """How fast L grows when the inputs move along `direction`."""
    up, down = (
        np.asarray(
            function(
                *(np.asarray(x + step * d) for x, d in zip(outcome.inputs, direction, strict=True))
            )
        )
        for step in (STEP, -STEP)
    )
    rise = np.zeros_like(up)
    np.subtract(up, down, out=rise, where=up != down)  # -inf that stays -inf did not move
    return float((rise * outcome.seed).sum() / (2 * STEP))
