"""Products of a few rows with one weight, again and again, as each step of a recurrence makes."""

from collections.abc import Callable

import numpy as np

from clearformer.engines.numpy.products import SMALL

Product = Callable[[np.ndarray, np.ndarray], np.ndarray]
"""product(rows, out) = rows @ weight, which is written to out."""

STRIPE = 64
"""Columns. A product of few rows with so many columns is small enough for OpenBLAS to take its
numbers where they lie, in place of copying the whole weight into an order of its own each time:
measured with 12 rows and 256 × 1,024, 57 µs in place of 160; with 32 rows, 147 in place of 244."""

MOST_PARTS = 8
"""Of a sum that is cut, because there would be more than `SMALL` multiplications to a stripe: with
12 rows and 2,048 × 512, 222 µs in place of 377. Adding up more parts costs what they save."""

WORTH_CUTTING = 4
"""Products with a weight that make up for cutting it into stripes."""


def repeated(weight: np.ndarray, times: int, most: int) -> Product:
    """Multiplies with one weight, to be called so many times with a few rows, at most `most`."""
    inner, columns = weight.shape
    if times < WORTH_CUTTING or columns < STRIPE:
        return lambda rows, out: np.matmul(rows, weight, out=out)
    cut, parts = columns - columns % STRIPE, _parts(most, inner)
    stripes = weight[:, :cut].reshape(parts, inner // parts, -1, STRIPE).swapaxes(1, 2)
    stripes, rest = np.ascontiguousarray(stripes), np.ascontiguousarray(weight[:, cut:])
    sums = np.empty((parts, most, cut), weight.dtype)

    def product(rows: np.ndarray, out: np.ndarray) -> np.ndarray:
        count = len(rows)
        if parts == 1:
            whole = out[:, :cut].reshape(count, -1, STRIPE)
            np.matmul(rows, stripes[0], out=whole.swapaxes(0, 1))
        else:
            left = rows.reshape(count, parts, 1, -1).transpose(1, 2, 0, 3)
            added = sums[:, :count].reshape(parts, count, -1, STRIPE)
            np.matmul(left, stripes, out=added.swapaxes(1, 2))
            np.add.reduce(sums[:, :count], 0, out=out[:, :cut])
        if cut < columns:
            np.matmul(rows, rest, out=out[:, cut:])
        return out

    return product


def _parts(rows: int, inner: int) -> int:
    """In how many parts a sum is added up, so that each product with a stripe is small."""
    parts = 1
    while rows * inner * STRIPE > SMALL * parts and parts < MOST_PARTS and inner % (2 * parts) == 0:
        parts *= 2
    return parts
