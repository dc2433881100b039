"""Orthogonalising: the row of the operation, and the formula that it is held against."""

import numpy as np

from clearformer import ops
from clearformer.engines.polar import STEPS, polynomials
from clearformer.verification.comparison import Comparison
from clearformer.verification.report import Row
from clearformer.verification.sides import Side, wide
from clearformer.verification.tolerance import VALUE, Tolerance

SHAPES = ((1, 1), (1, 5), (3, 4), (4, 3), (2, 5, 5), (2, 0, 3), (32, 32), (2, 24, 96), (96, 24))

COMPARED = (1, STEPS, STEPS + 2)
"""So many steps."""

SPREAD = 1e-3
"""The least singular value, where that is chosen and the largest is 1."""

TOLERANCE = {**VALUE, "float32": Tolerance(5e-5)}
"""In float32 the rounding of the first products grows as the smallest singular values do."""


def by_the_book(matrices: np.ndarray, steps: int) -> np.ndarray:
    """U p(σ) Vᵀ of each matrix U diag(σ) Vᵀ, with all polynomials of σ / (Σ σ⁸)^(1/8)."""
    left, values, right = np.linalg.svd(matrices, full_matrices=False)
    size = (values**8).sum(-1, keepdims=True) ** (1 / 8)
    values = np.divide(values, size, out=np.zeros_like(values), where=size > 0)
    for a, b, c in polynomials(steps):
        values = a * values + b * values**3 + c * values**5
    found: np.ndarray = (left * values[..., None, :]) @ right
    return found


def orthogonalise_row(side: Side) -> Row:
    """Orthogonalising on a side against the formula in float64.

    Random matrices, the same with singular values from 1 down to a thousandth, and zeros.
    """
    comparison = Comparison("orthogonalise", side.dtype, TOLERANCE[side.dtype])
    rng = np.random.default_rng(0)
    for shape in SHAPES:
        drawn = rng.normal(size=shape)
        for kind, matrices in (("", drawn), ("ill", _spread(drawn)), ("zero", 0 * drawn)):
            for steps in COMPARED:
                where = f"{kind} matrices{shape} steps={steps}".strip().replace(", ", ",")
                with comparison.attempt(where):
                    x = side.tensor(matrices)
                    found = wide(ops.orthogonalise(x, steps))
                    comparison.value.meet(found, by_the_book(wide(x), steps), where)
    return comparison.row()


def _spread(matrices: np.ndarray) -> np.ndarray:
    left, values, right = np.linalg.svd(matrices, full_matrices=False)
    found: np.ndarray = (left * np.geomspace(1, SPREAD, values.shape[-1])) @ right
    return found
