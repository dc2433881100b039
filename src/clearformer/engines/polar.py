"""Matrices whose singular values are all about one, by products of matrices alone.

An odd polynomial of a matrix, aX + bXXᵀX + c(XXᵀ)²X, changes its singular values σ to
aσ + bσ³ + cσ⁵ and leaves its singular vectors as they are. A few of them, one after another, take
all σ of a range close to one. What can be written down once for every engine is here.
"""

import operator
from collections.abc import Callable
from typing import Any

from clearformer.errors import ConfigurationError, ShapeError

Polynomial = tuple[float, float, float]
"""a, b and c."""

STEPS = 3
"""Polynomials in a row, unless told otherwise: more cost more than they bring (docs/log.md)."""

AT_ONCE = 4
"""Steps for which the Gram matrix of a long matrix is carried on before it is made anew: what
rounding does to it in float32 grows with each, and can be seen after six."""

MOST_STEPS = 100
"""After a few nothing changes any more."""

COEFFICIENTS = (
    (8.093368512548, -23.620430328824, 17.446151749836),
    (3.636585554259, -2.721926746609, 0.536546288327),
    (2.661299985777, -1.977154521885, 0.452616406996),
    (1.956171638884, -1.337507745944, 0.38385270133),
)
"""Of each step: the best for singular values of 0.01 … 1 times the largest, in the sense that the
largest |1 - σ| after it is the least. It is 0.919, 0.707, 0.269 and 0.0125 after one to four.

By the method of Amsel et al., "The Polar Express", 2025, algorithm 1; a test finds them anew.
"""

AT_LAST = (15 / 8, -10 / 8, 3 / 8)
"""Where σ is near one: keeps it there (Kovarik, 1970)."""

SMALLEST = 1e-30
"""Squares of all numbers of a matrix that add up to less count as so much: it is nearly zero."""


def polynomials(steps: int) -> list[Polynomial]:
    """The coefficients of so many steps.

    Raises:
        ConfigurationError: no step, or far too many.
    """
    if not 1 <= operator.index(steps) <= MOST_STEPS:
        raise ConfigurationError(f"steps must be between 1 and {MOST_STEPS}; got {steps}")
    return [*COEFFICIENTS, *[AT_LAST] * (steps - len(COEFFICIENTS))][:steps]


def orthogonalised(
    matrices: Any,
    steps: int,
    measured: Callable[[Any], tuple[Any, Any, Any]],
    polynomial: Callable[..., Any],
) -> Any:
    """X ← P X with P = aI + bG + cG² and G = XXᵀ, `steps` times, from X / (Σ σ⁸)^(1/8) on.

    G is taken on the shorter side: XᵀX, and X P, where there are more rows than columns. A square X
    is multiplied at each step: three products. Of a longer one only small matrices are carried on,
    since all of them commute: Q ← Q P and G ← G P P, and Q X is the result; two long products for
    several steps.

    Args:
        matrices: (…, rows, columns), of any engine.
        steps: how many.
        measured: of G, which may be used up: G and G² of the X that is shrunk so that no σ is above
            1, and the factor by which it is.
        polynomial: of G, G², a, b and c: the P, which may be made in the memory of G².

    Raises:
        ShapeError: there are no rows or columns.
        ConfigurationError: no step, or too many.
    """
    if len(matrices.shape) < 2:
        raise ShapeError(f"expected (…, rows, columns); got the shape {tuple(matrices.shape)}")
    rows, columns = matrices.shape[-2:]
    wide, at_once = rows <= columns, 1 if rows == columns else AT_ONCE
    x, coefficients = matrices, polynomials(steps)
    for begin in range(0, steps, at_once):
        turned = x.swapaxes(-1, -2)
        gram = x @ turned if wide else turned @ x
        gram, square, shrink = (gram, squared(gram), 1.0) if begin else measured(gram)
        factor = product = polynomial(gram, square, *coefficients[begin])
        for row in coefficients[begin + 1 : begin + at_once]:
            gram = gram @ factor @ factor
            factor = polynomial(gram, gram @ gram, *row)
            product = product @ factor
        if not begin:
            product = product * shrink
        x = product @ x if wide else x @ product
    return x


def squared(gram: Any) -> Any:
    """G² of a G just made, as G Gᵀ: BLAS then makes one half of it only."""
    return gram @ gram.swapaxes(-1, -2)
