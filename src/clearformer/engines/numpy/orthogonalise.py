"""The nearest matrices with orthonormal rows or columns, by products of matrices alone."""

import numpy as np

from clearformer.engines.polar import SMALLEST, STEPS, orthogonalised, squared
from clearformer.errors import ShapeError


def orthogonalise(matrices: np.ndarray, steps: int = STEPS) -> np.ndarray:
    """X ← (aI + bXXᵀ + c(XXᵀ)²) X, `steps` times; see `engines.polar`.

    One matrix after another, so that what is made on the way stays in a cache.
    """
    if not isinstance(matrices, np.ndarray):
        raise ShapeError("orthogonalise is for optimizers and has no gradient; give it an array")
    if not matrices.size:
        return matrices.copy()
    if matrices.ndim < 3:
        return _alone(matrices, steps)
    found = np.empty_like(matrices)
    for place in np.ndindex(matrices.shape[:-2]):
        found[place] = _alone(matrices[place], steps)
    return found


def _alone(matrix: np.ndarray, steps: int) -> np.ndarray:
    found: np.ndarray = orthogonalised(matrix, steps, _measured, _polynomial)
    return found


def _measured(gram: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """G and G² of X / (Σ σ⁸)^(1/8), and what X is multiplied by for that.

    It costs next to nothing: G divided by its trace, Σ σ², is harmless in float32 whatever X was,
    and Σ σ⁸ = ‖G²‖² bounds every σ from above within a factor of side^(1/8), where Σ σ² is off by
    up to √side. The first step needs G² anyway.
    """
    trace = _over_each(gram.diagonal(0, -2, -1)[..., None])
    size = np.maximum(trace, SMALLEST)
    gram /= size
    square = squared(gram)
    largest = np.maximum(np.sqrt(np.sqrt(_over_each(square * square))), 1 / gram.shape[-1])
    gram /= largest
    square /= largest * largest
    return gram, square, 1 / np.sqrt(size * largest)


def _polynomial(gram: np.ndarray, square: np.ndarray, a: float, b: float, c: float) -> np.ndarray:
    """AI + bG + cG², in the memory of G²."""
    square *= c
    square += b * gram
    side = square.shape[-1]
    square.reshape(*square.shape[:-2], side * side)[..., :: side + 1] += a
    return square


def _over_each(x: np.ndarray) -> np.ndarray:
    """The sum over each matrix, which stays a matrix."""
    total: np.ndarray = x.sum((-2, -1), keepdims=True)
    return total
