"""The best odd polynomials of degree 5, one after another, that take a range of numbers to one."""

import numpy as np

Polynomial = tuple[float, float, float]


def polar_express(least: float, steps: int) -> list[Polynomial]:
    """The coefficients for numbers between `least` and 1 (Amsel et al., 2025, algorithm 1).

    What a step makes of the range lies as far below one as above it, and is that of the next.
    """
    most, found = 1.0, []
    for _ in range(steps):
        a, b, c = best_quintic(least, most)
        found.append((a, b, c))
        least = a * least + b * least**3 + c * least**5
        most = 2 - least
    return found


def best_quintic(least: float, most: float) -> Polynomial:
    """Nearest to one between `least` and `most`, by the exchange of Remez.

    At the two ends and the two turning points it is equally far from one, above and below in turns.
    """
    if least / most > 1 - 5e-6:
        return 15 / 8 / most, -10 / 8 / most**3, 3 / 8 / most**5
    inner = np.array([(3 * least + most) / 4, (least + 3 * most) / 4])
    for _ in range(100):
        points = np.array([least, *inner, most])
        signs = np.array([1, -1, 1, -1])
        table = np.stack([points, points**3, points**5, signs], axis=1)
        a, b, c, _ = np.linalg.solve(table, np.ones(4)).tolist()
        root = np.sqrt(9 * b * b - 20 * a * c)
        inner = np.sqrt((-3 * b + np.array([-root, root])) / (10 * c))
    return a, b, c
