"""Attention with its whole table of scores: the plain way, quick while the table is small.

`attention_in_tiles` is the same computation for long sequences; a test holds the two equal.
"""

from math import sqrt

import numpy as np

from clearformer.engines.bounds import check_mask
from clearformer.engines.mask import allowed_positions
from clearformer.engines.numpy.products import matrix_product
from clearformer.engines.tape import Gradient

SAFE_SCORE = 30.0
"""exp(±30) is far from overflow and underflow in float32, so no maximum need be subtracted.

In float16, which overflows at exp(11.09), it always is.
"""


def attend_whole(
    q: np.ndarray,
    k: np.ndarray,
    v: np.ndarray,
    mask: np.ndarray | None,
    causal: bool,
    factor: float,
) -> tuple[np.ndarray, Gradient]:
    """O = P V with P = E / r, E = exp(S - max) where allowed, r = row sums, S = factor · Q Kᵀ.

    P itself is never formed. With g = dL/dO, G = g / r and D = rows of g · O:
    dL/dV = Eᵀ G,  dL/dS = E * (G Vᵀ - D / r),  dL/dQ = factor · dL/dS K,
    dL/dK = factor · dL/dSᵀ Q.  (Dao et al., "FlashAttention", 2022, appendix B.2, without the
    tiles.)

    Returns:
        O, and the function that turns g into dL/dQ, dL/dK and dL/dV.
    """
    scaled = q * factor
    allowed = allowed_positions(q.shape[-2], k.shape[-2], mask, causal)
    powers = _powers(scaled, k, allowed)
    inverse = powers @ np.ones((k.shape[-2], 1), powers.dtype)
    np.divide(1, inverse, out=inverse, where=inverse != 0)  # a row with nothing allowed stays 0
    mixed = _product(powers, v)
    mixed *= inverse

    def gradient(grad: np.ndarray) -> tuple[np.ndarray, ...]:
        overlap = np.vecdot(grad, mixed)[..., None]
        overlap *= inverse
        share = grad * inverse
        to_scores = matrix_product(share, v.swapaxes(-1, -2))
        to_scores -= overlap
        to_scores *= powers
        to_query = _product(to_scores, k)
        to_query *= factor
        turned = to_scores.swapaxes(-1, -2)
        return to_query, _product(turned, scaled), _product(powers.swapaxes(-1, -2), share)

    return mixed, gradient


def _powers(scaled: np.ndarray, k: np.ndarray, allowed: np.ndarray | None) -> np.ndarray:
    """exp of the scores, shifted only where a score could be large; 0 where not allowed."""
    scores: np.ndarray = matrix_product(scaled, k.swapaxes(-1, -2))
    if allowed is not None:
        check_mask(allowed.shape, scores.shape)
    safe = SAFE_SCORE if scores.dtype.itemsize >= 4 else 0.0
    if _largest_possible(scaled, k) <= safe:
        np.exp(scores, out=scores)
        if allowed is not None:
            scores *= allowed.astype(scores.dtype)
        return scores
    if allowed is not None:
        scores = np.where(allowed, scores, scores.dtype.type(-np.inf))
    highest = scores.max(-1, keepdims=True, initial=-np.inf)
    # small rows stay as they are, so that no row's bits depend on what it may not see
    highest[(np.abs(highest) <= 1.001 * safe) | np.isneginf(highest)] = 0
    scores -= highest
    return np.exp(scores, out=scores)


def _largest_possible(scaled: np.ndarray, k: np.ndarray) -> float:
    """No |q · k| exceeds |q| |k| (Cauchy–Schwarz): far cheaper than the maximum of every row."""
    if not scaled.size or not k.size:
        return 0.0
    return float(sqrt(np.vecdot(scaled, scaled).max() * np.vecdot(k, k).max()))


def _product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a @ b, laid out with the heads inside each position, so that merging them copies nothing."""
    if a.ndim < 3 or b.ndim < 3:
        return a @ b
    lead = a.shape[:-2]
    if lead != b.shape[:-2]:
        lead = np.broadcast_shapes(lead, b.shape[:-2])  # Python, and four times in each attention
    result = heads_inside(lead, a.shape[-2], b.shape[-1], np.result_type(a, b))
    return matrix_product(a, b, out=result)


def heads_inside(lead: tuple[int, ...], rows: int, width: int, dtype: np.dtype) -> np.ndarray:
    """Room for (*lead, rows, width) in which the last of the leading axes lies inside the rows."""
    if not lead:
        return np.empty((rows, width), dtype)
    *others, heads = lead
    return np.empty((*others, rows, heads, width), dtype).swapaxes(-2, -3)
