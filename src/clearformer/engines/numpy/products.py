"""Products of matrices in pieces that OpenBLAS multiplies where they lie.

Before OpenBLAS multiplies it copies both matrices into an order of its own, unless rows × inner ×
columns is at most 10⁶ and the processor has AVX-512: then it takes the numbers where they lie. A
product of some hundred rows with a matrix of a small model spends more than a tenth of its time on
the copies. In pieces below that size, all of which one call of `matmul` goes through, it does not:
384 rows times 128 × 512 at 114 in place of 100 GFLOP/s on one thread.

On other processors, with other libraries, and where a product may have several threads, it is
`matmul` as it is. The pieces depend on shapes alone.
"""

from functools import lru_cache

import numpy as np

from clearformer.engines.threads import limit

SMALL = 1_000_000
"""Multiplications of one piece, at most."""

LEAST_ROWS = 8
"""Of a piece: less are not worth a call."""

DEEP = 128
"""Inner numbers from which A Bᵀ is no slower in pieces."""

NARROW = 64
"""Columns, up to which pieces have 32 where A lies on its side: wider factors are not in the cache,
where fewer columns at once are quicker."""

STRIPE, MANY = 64, 1024
"""Columns of a copied stripe of a large B, or of one that lies on its side; rows from which the
copy pays."""

SOME_ROWS = 32
"""Of A, that make up for a copy of Bᵀ in a small product, for which OpenBLAS is slow otherwise."""


def matrix_product(a: np.ndarray, b: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
    """A B for (…, rows, inner) and (…, inner, columns), as `matmul`; either may lie on its side."""
    if a.ndim < 2 or b.ndim < 2:  # here and below, matmul says what is wrong
        return np.matmul(a, b, out=out)
    if a.shape[-1] == 1 == b.shape[-2]:  # several times quicker without BLAS
        return np.multiply(a, b, out=out)
    if not limit.small_products or a.dtype != np.float32 or b.dtype != np.float32:
        return np.matmul(a, b, out=out)
    (*lead, rows, inner), (*others, depth, columns) = a.shape, b.shape
    a_turned, b_turned = a.strides[-1] != a.itemsize, b.strides[-1] != b.itemsize
    if rows * inner * columns <= SMALL:
        return np.matmul(
            a, np.ascontiguousarray(b) if b_turned and rows >= SOME_ROWS else b, out=out
        )
    height, width, copied = _piece(rows, inner, columns, a_turned, b_turned)
    if not height or lead != others or 0 in lead or inner != depth:
        return np.matmul(a, b, out=out)
    if out is None:
        out = np.empty((*lead, rows, columns), a.dtype)
    elif (
        out.shape != (*lead, rows, columns)
        or np.may_share_memory(out, a)
        or np.may_share_memory(out, b)
    ):
        return np.matmul(a, b, out=out)
    cut = rows - rows % height
    left = a[..., None, :cut, :].reshape(*lead, 1, -1, height, inner)
    stripes = b.reshape(*lead, inner, -1, width).swapaxes(-3, -2)
    pieces = out[..., :cut, :].reshape(*lead, -1, height, columns // width, width)
    pieces = pieces.swapaxes(-3, -2).swapaxes(-4, -3)  # all rows with one stripe, then the next
    stripes = np.ascontiguousarray(stripes) if copied else stripes
    np.matmul(left, stripes[..., None, :, :], out=pieces)
    if cut < rows:
        np.matmul(a[..., cut:, :], b, out=out[..., cut:, :])
    return out


@lru_cache(maxsize=512)
def _piece(
    rows: int, inner: int, columns: int, a_turned: bool, b_turned: bool
) -> tuple[int, int, bool]:
    """Rows and columns of a piece; none where the product is better made as it is.

    Whether B is copied stripe by stripe first, too, which pays where there are many rows.

    Measured one by one. Where A lies on its side, narrow pieces are the quickest; where B does,
    OpenBLAS takes results of up to 1,200 numbers.
    """
    large = not a_turned and (b_turned or inner * columns * LEAST_ROWS > SMALL)
    if large and rows >= MANY and columns % STRIPE == 0:
        return _rows_of(rows, inner * STRIPE), STRIPE, True
    if b_turned:
        choices = [] if a_turned or inner < DEEP else [(16, 64), (32, 32), (64, 16)]
    elif a_turned:
        choices = [(64, 16), (32, 16)]
        if columns <= NARROW:
            choices = [(height, width) for width in (32, 16) for height in (64, 32, 16, 8)]
    else:
        return _rows_of(rows, inner * columns), columns, False
    fit = [
        (height, width)
        for height, width in choices
        if (rows % height == 0 or rows >= 4 * height)
        and columns % width == 0
        and height * width * inner <= SMALL
    ]
    return (*fit[0], False) if fit else (0, 0, False)


def _rows_of(rows: int, each: int) -> int:
    """The most that fit and leave nothing over, or if these are few the most that fit."""
    most = SMALL // each // 4 * 4
    if most < LEAST_ROWS:
        return 0
    even = [height for height in range(most, most // 2, -4) if rows % height == 0]
    return even[0] if even else most
