"""What training makes small."""

from typing import Any

import numpy as np

from clearformer.engines.bounds import check_answers, counted_targets
from clearformer.engines.tape import record, value_of


def cross_entropy(logits: Any, targets: np.ndarray, ignore: int = -100) -> Any:
    """Mean of -log softmax(logits)[target], in nats; positions with target `ignore` do not count.

    dL/dlogits = (softmax(logits) - one-hot target) / count.
    """
    scores = value_of(logits)
    if scores.dtype.kind in "biu":  # whole numbers have no infinity
        scores = scores.astype(np.float64)
    targets = np.asarray(targets)
    counted = counted_targets(targets, scores.shape, ignore)
    rows = scores.reshape(-1, scores.shape[-1])
    wanted = targets.reshape(-1)
    place = np.where(counted, wanted, 0), np.arange(len(wanted))
    count = max(int(counted.sum()), 1)
    shifted = rows - rows.max(-1, keepdims=True, initial=-np.inf)
    chosen = shifted[place[1], place[0]]
    share = np.exp(shifted, out=shifted)
    total = share.sum(-1, keepdims=True)
    losses = np.where(counted, np.log(total[:, 0]) - chosen, chosen.dtype.type(0))

    def gradient(grad: np.ndarray) -> tuple[np.ndarray]:
        back = share / total
        back[place[1], place[0]] -= 1
        back *= counted[:, None] * (grad / count).astype(back.dtype)
        return (back.reshape(scores.shape),)

    return record("cross_entropy", losses.sum() / count, (logits,), gradient)


def logistic_loss(logits: Any, targets: np.ndarray, weights: np.ndarray | None = None) -> Any:
    """Weighted mean of log(1 + exp(s)) with s = -x where the target is True, else s = x.

    dL/dx = ± w σ(s) / Σ w: minus where the target is True.
    """
    scores = value_of(logits)
    if scores.dtype.kind in "biu":
        scores = scores.astype(np.float64)
    targets = np.asarray(targets)
    check_answers(targets, weights, scores.shape)
    signed = np.where(targets, -scores, scores)
    total: Any = max(scores.size, 1)
    if weights is not None:
        weights = np.asarray(weights, scores.dtype)
        signed = np.where(weights != 0, signed, scores.dtype.type(0))
        total = weights.sum() or scores.dtype.type(1)
    small = np.exp(-np.abs(signed))  # at most 1: cannot overflow
    losses = np.log1p(small)
    losses += np.maximum(signed, 0)

    def gradient(grad: np.ndarray) -> tuple[np.ndarray]:
        share = np.where(signed > 0, 1, small) / (1 + small)  # σ(s)
        share *= (grad / total).astype(share.dtype)
        if weights is not None:
            share *= weights
        return (np.where(targets, -share, share),)

    weighted = losses if weights is None else losses * weights
    return record("logistic_loss", weighted.sum() / total, (logits,), gradient)
