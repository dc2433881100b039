"""How far results move when inputs are rounded: what an error in a type of 16 bits is held against.

A number that is the sum of large terms of both signs may be much smaller than the rounding of its
terms. No way of computing it in that type can then be right relative to the number itself; what a
good way can be is right relative to how far the number moves when the inputs move by one rounding
(Higham, "Accuracy and Stability of Numerical Algorithms", 2002, section 1.5).
"""

import numpy as np

from clearformer.verification.sides import Function, Outcome, Side

DRAWS = 16
"""Random directions; the movement is the root of the mean square over them."""

STEP = 1e-6
"""How far inputs are moved, relative to their size; the movement is divided by it again."""


def movements(function: Function, side: Side, outcome: Outcome) -> list[np.ndarray]:
    """For the value and each gradient: by how much each number moves.

    Every input, and the gradient that comes in, moves up or down by a rounding of its own size, or
    of the root mean square of its array where that is larger.
    """
    rng = np.random.default_rng(3)
    before = (outcome.value, *outcome.gradients)
    squares = [np.zeros_like(x) for x in before]
    for _ in range(DRAWS):
        inputs = [_moved(x, rng) for x in outcome.inputs]
        moved = side.run(function, inputs, _moved(outcome.seed, rng))
        for square, now, then in zip(squares, (moved.value, *moved.gradients), before, strict=True):
            distance = np.zeros_like(then)
            np.subtract(now, then, out=distance, where=now != then)  # ∞ stays ∞
            np.add(square, (distance / STEP) ** 2, out=square)
    return [np.sqrt(square / DRAWS) for square in squares]


def _moved(x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    if not x.size:
        return x
    size = np.maximum(np.abs(x), np.sqrt(np.mean(x * x)))
    return np.asarray(x + STEP * size * rng.choice([-1.0, 1.0], x.shape))
