"""AdamW: the row of the operation, and the formula that it is held against."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from clearformer import ops
from clearformer.verification.comparison import Comparison
from clearformer.verification.report import Row
from clearformer.verification.sides import Side, wide

PARAMETERS = 40
STEPS = 100
COMPARED = (1, STEPS)
"""After so many steps."""

DEFAULTS = {"beta_1": 0.9, "beta_2": 0.999, "epsilon": 1e-8, "decay": 0.0}

OPTIONS: tuple[Mapping[str, float], ...] = (
    {"learning_rate": 1e-3},
    {"learning_rate": 0.02, "beta_1": 0.8, "beta_2": 0.95, "epsilon": 1e-6, "decay": 0.1},
)


def by_the_book(
    parameters: np.ndarray,
    gradients: np.ndarray,
    first: np.ndarray,
    second: np.ndarray,
    *,
    step: int,
    learning_rate: float,
    beta_1: float,
    beta_2: float,
    epsilon: float,
    decay: float,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Parameters, first and second moments after a step, as the paper writes it.

    (Loshchilov and Hutter, "Decoupled Weight Decay Regularization", 2019, algorithm 2, with the
    learning rate as its schedule.)
    """
    first = beta_1 * first + (1 - beta_1) * gradients
    second = beta_2 * second + (1 - beta_2) * gradients**2
    mean, square = first / (1 - beta_1**step), second / (1 - beta_2**step)
    moved = learning_rate * (mean / (np.sqrt(square) + epsilon) + decay * parameters)
    return parameters - moved, first, second


def adamw_row(side: Side) -> Row:
    """AdamW in place on a side, one step and a hundred, against the formula in float64.

    Both get the same gradients, of sizes from a thousandth to ten.
    """
    comparison = Comparison("adamw", side.dtype)
    for options in OPTIONS:
        where = "adamw: " + " ".join(f"{name}={x:g}" for name, x in options.items())
        with comparison.attempt(where):
            _compare(comparison, side, options, where)
    return comparison.row()


def _compare(comparison: Comparison, side: Side, options: Mapping[str, float], where: str) -> None:
    rng = np.random.default_rng(0)
    sizes = 10.0 ** rng.uniform(-3, 1, PARAMETERS)
    start = np.linspace(-2, 2, PARAMETERS), np.zeros(PARAMETERS), np.zeros(PARAMETERS)
    found: list[Any] = [side.tensor(x) for x in start]
    expected = tuple(wide(x) for x in found)
    for step in range(1, STEPS + 1):
        gradients = side.tensor(sizes * rng.normal(size=PARAMETERS))
        ops.adamw(found[0], gradients, found[1], found[2], step=step, **options)
        expected = by_the_book(
            expected[0],
            wide(gradients),
            expected[1],
            expected[2],
            step=step,
            **(DEFAULTS | dict(options)),
        )
        if step in COMPARED:
            for mine, wanted in zip(found, expected, strict=True):
                comparison.value.meet(wide(mine), wanted, f"{where}, step {step}")
