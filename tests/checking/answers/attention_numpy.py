"""Attention as learners write it with NumPy: loops, einsum, running sums, other names."""

import functools
import math

import numpy as np


def self_attention_by_loops(X, W_Q, W_K, W_V, masked=True):
    if X.ndim > 2:
        return np.array([self_attention_by_loops(x, W_Q, W_K, W_V, masked) for x in X])
    T = len(X)
    q, k, v = X.dot(W_Q), X.dot(W_K), X.dot(W_V)
    out = []
    for i in range(T):
        seen = i + 1 if masked else T
        scores = []
        for j in range(seen):
            scores.append(sum(q[i][c] * k[j][c] for c in range(k.shape[1])) / math.sqrt(k.shape[1]))
        biggest = max(scores)
        e = [math.exp(s - biggest) for s in scores]
        row = np.zeros(W_V.shape[1])
        for j in range(seen):
            row += e[j] / sum(e) * v[j]
        out.append(row)
    return np.array(out)


def self_attention_by_einsum(x, wq, wk, wv, masked=True):
    q = np.einsum("...tc,cd->...td", x, wq) * wq.shape[-1] ** -0.5
    k = np.einsum("...tc,cd->...td", x, wk)
    v = np.einsum("...tc,cd->...td", x, wv)
    att = np.einsum("...td,...sd->...ts", q, k)
    if masked:
        att = np.where(np.tri(x.shape[-2], dtype=bool), att, -1e9)
    att = np.exp(att - att.max(-1, keepdims=True))
    att /= att.sum(-1, keepdims=True)
    return np.einsum("...ts,...se->...te", att, v), att


def self_attention_with_an_online_softmax(X, W_Q, W_K, W_V, masked=True):
    """One key at a time, as flash attention does it: for one sentence only."""
    q, k, v = X @ W_Q, X @ W_K, X @ W_V
    out = np.zeros((q.shape[0], v.shape[1]))
    m = np.full(q.shape[0], -np.inf)
    norm = np.zeros(q.shape[0])
    for j in range(k.shape[0]):
        s = q @ k[j] / np.sqrt(q.shape[1])
        if masked:
            s[:j] = -np.inf
        new = np.maximum(m, s)
        with np.errstate(invalid="ignore"):
            old_part = np.where(np.isneginf(m), 0.0, np.exp(m - new))
            p = np.where(np.isneginf(s), 0.0, np.exp(s - new))
        out = out * old_part[:, None] + p[:, None] * v[j]
        norm = norm * old_part + p
        m = new
    return out / norm[:, None]


def self_attention_in_base_2(X, W_Q, W_K, W_V, masked=True, log2e=1.4426950408889634):
    Q, K, V = X @ W_Q, X @ W_K, X @ W_V
    S = Q @ np.swapaxes(K, -1, -2) * (log2e / math.sqrt(K.shape[-1]))
    if masked:
        S = S + np.triu(np.full(S.shape[-2:], -np.inf), k=1)
    P = np.exp2(S - S.max(axis=-1, keepdims=True))
    return (P @ V) / P.sum(axis=-1, keepdims=True)


def self_attention_masked_after_and_renormalised(X, W_Q, W_K, W_V, masked=True):
    scores = (X @ W_Q) @ (X @ W_K).swapaxes(-2, -1) / W_K.shape[1] ** 0.5
    weights = np.exp(scores) / np.exp(scores).sum(axis=-1, keepdims=True)
    if masked:
        weights = np.tril(weights)
        weights = weights / weights.sum(axis=-1, keepdims=True)
    return weights @ (X @ W_V)


def self_attention_in_float32(X, W_Q, W_K, W_V, masked=True):
    X, W_Q, W_K, W_V = (a.astype(np.float32) for a in (X, W_Q, W_K, W_V))
    K = X @ W_K
    s = X @ W_Q @ np.moveaxis(K, -1, -2) / np.sqrt(np.float32(K.shape[-1]))
    if masked:
        s = np.where(np.arange(s.shape[-1]) > np.arange(s.shape[-2])[:, None], -np.inf, s)
    s = np.exp(s - np.max(s, axis=-1, keepdims=True))
    return s / np.sum(s, axis=-1, keepdims=True) @ (X @ W_V)


class AttentionAsAnObject:
    def __init__(self, fill=-1e9):
        self.fill = fill

    def _softmax(self, z):
        z = z - z.max(axis=-1)[..., None]
        return np.exp(z) / np.exp(z).sum(axis=-1)[..., None]

    def __call__(self, X, W_Q, W_K, W_V, masked=True):
        s = np.matmul(X @ W_Q, np.swapaxes(X @ W_K, -1, -2)) / np.sqrt(W_Q.shape[1])
        if masked:
            s[..., ~np.tri(s.shape[-1], dtype=bool)] = self.fill
        return self._softmax(s) @ (X @ W_V)


def _logged(function):
    @functools.wraps(function)
    def inner(*args, **kwargs):
        return function(*args, **kwargs)

    return inner


@_logged
def multi_head_head_by_head(X, W_Q, W_K, W_V, W_O, n_heads, masked=True):
    d = X.shape[-1] // n_heads
    outs = []
    for h in range(n_heads):
        cols = slice(h * d, (h + 1) * d)
        outs.append(self_attention_in_base_2(X, W_Q[:, cols], W_K[:, cols], W_V[:, cols], masked))
    return np.concatenate(outs, axis=-1) @ W_O


def multi_head_as_a_sum(X, W_Q, W_K, W_V, W_O, n_heads, masked=True):
    """Each head through its own rows of W_O, then added: no concatenation at all."""
    total = 0
    for wq, wk, wv, wo in zip(
        np.split(W_Q, n_heads, 1),
        np.split(W_K, n_heads, 1),
        np.split(W_V, n_heads, 1),
        np.split(W_O, n_heads, 0),
        strict=True,
    ):
        total = total + self_attention_by_einsum(X, wq, wk, wv, masked)[0] @ wo
    return total


def multi_head_batched_only(X, W_Q, W_K, W_V, W_O, n_heads, masked=True):
    if X.ndim == 2:
        return multi_head_batched_only(X[None], W_Q, W_K, W_V, W_O, n_heads, masked)[0]
    B, T, C = X.shape
    q, k, v = (
        (X @ w).reshape(B, T, n_heads, C // n_heads).transpose(0, 2, 1, 3) for w in (W_Q, W_K, W_V)
    )
    att = q @ k.transpose(0, 1, 3, 2) / math.sqrt(C // n_heads)
    if masked:
        mask = (1 - np.tri(T)) * -1e10
        att = att + mask
    att = np.exp(att - att.max(3, keepdims=True))
    att = att / att.sum(3, keepdims=True)
    return (att @ v).transpose(0, 2, 1, 3).reshape(B, T, C) @ W_O


def cross_attention_in_parts(tgt, src, wq, wk, wv, *, scale=None, return_weights=False):
    q, k, v = tgt @ wq, src @ wk, src @ wv
    scale = scale or 1 / np.sqrt(k.shape[-1])
    logits = np.einsum("...qd,...kd->...kq", q, k) * scale
    p = np.exp(logits - logits.max(axis=-2, keepdims=True))
    p = p / p.sum(axis=-2, keepdims=True)
    out = np.einsum("...kq,...kd->...qd", p, v)
    return (out, p) if return_weights else out


def cache_step_with_a_row(x, cache, W_Q, W_K, W_V):
    q, k, v = x @ W_Q, x @ W_K, x @ W_V
    K = np.vstack([cache["K"], k])
    V = np.vstack([cache["V"], v])
    s = np.atleast_2d(q) @ K.T / np.sqrt(K.shape[1])
    w = np.exp(s - s.max())
    return (w / w.sum()) @ V, {"K": K, "V": V}


def cache_step_into_the_same_dict(x, cache, W_Q, W_K, W_V):
    cache["K"] = np.append(cache["K"], (x @ W_K).reshape(1, -1), axis=0)
    cache["V"] = np.append(cache["V"], (x @ W_V).reshape(1, -1), axis=0)
    s = (cache["K"] @ (x @ W_Q).ravel()) / cache["K"].shape[-1] ** 0.5
    w = np.exp(s - np.logaddexp.reduce(s))
    return w @ cache["V"], cache
