"""Softmax, and the mask before it."""

from typing import Any

import numpy as np

from clearformer.engines.tape import record, value_of


def softmax(x: Any, axis: int = -1) -> Any:
    """p = exp(x - max) / sum.  With g = dL/dp:  dL/dx = p * (g - sum(p * g)).

    A row in which everything is -inf gives zeros, and gradient zero.
    """
    share = shares(value_of(x), axis)

    def gradient(grad: np.ndarray) -> tuple[np.ndarray]:
        weighted = share * grad
        weighted -= share * weighted.sum(axis, keepdims=True)
        return (weighted,)

    return record("softmax", share, (x,), gradient)


def shares(scores: np.ndarray, axis: int = -1) -> np.ndarray:
    """The row softmax of plain scores, with the maximum subtracted so that exp cannot overflow."""
    if scores.dtype.kind in "biu":  # whole numbers have no infinity
        scores = scores.astype(np.float64)
    highest = scores.max(axis, keepdims=True, initial=-np.inf)
    highest = np.where(np.isneginf(highest), highest.dtype.type(0), highest)  # nothing allowed
    share = np.exp(scores - highest)
    total = share.sum(axis, keepdims=True)
    share /= np.where(total == 0, total.dtype.type(1), total)
    return share


def mask_scores(scores: Any, allowed: np.ndarray) -> Any:
    """y = scores where looking is allowed, -inf elsewhere; the gradient passes where allowed."""

    def gradient(grad: np.ndarray) -> tuple[np.ndarray]:
        return (np.where(allowed, grad, grad.dtype.type(0)),)

    x = value_of(scores)
    return record("mask_scores", np.where(allowed, x, x.dtype.type(-np.inf)), (scores,), gradient)
