"""Slips in other steps; and answers that are wrong in a way without a name."""

import math

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F


def one_hot_as_columns(ids, vocab_size):
    out = np.zeros((vocab_size, len(ids)))
    out[ids, np.arange(len(ids))] = 1
    return out


def embedding_gradient_overwritten(ids, grad, vocab_size):
    dE = torch.zeros(vocab_size, grad.shape[1])
    dE[ids] += grad
    return dE


def rotary_mixed(x, positions):
    """Frequencies for neighbours, but halves are turned."""
    d = x.shape[-1]
    f = 10000.0 ** (-np.arange(0, d, 2) / d)
    a = np.repeat(positions[:, None] * f, 2, axis=-1)
    half = np.concatenate([-x[..., d // 2 :], x[..., : d // 2]], axis=-1)
    return x * np.cos(a) + half * np.sin(a)


def scores_without_a_root(Q, K):
    return torch.einsum("...td,...sd->...ts", Q, K) / Q.size(-1)


def causal_mask_of_the_past(scores):
    return np.where(np.tril(np.ones(scores.shape[-2:]), -1) == 1, -np.inf, scores)


class RMSNormWithAMean(nn.Module):
    def __init__(self, d, eps=1e-5):
        super().__init__()
        self.weight, self.eps = nn.Parameter(torch.ones(d)), eps

    def forward(self, x):
        x = x - x.mean(-1, keepdim=True)
        return self.weight * x / torch.sqrt((x**2).mean(-1, keepdim=True) + self.eps)


class FeedForwardWithRelu(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.w1, self.w2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)

    def forward(self, x):
        return self.w2(F.relu(self.w1(x)))


def block_that_adds_the_normed(x, W_1, W_2):
    def norm(z):
        return (z - z.mean(-1, keepdims=True)) / np.sqrt(z.var(-1, keepdims=True) + 1e-5)

    n = norm(x)
    h = n + n @ W_1
    n = norm(h)
    return n + n @ W_2


def top_k_filled_with_zero(logits, k):
    kth = np.sort(logits, axis=-1)[..., ::-1][..., min(k, logits.shape[-1]) - 1][..., None]
    z = np.where(logits < kth, 0.0, logits)
    e = np.exp(z - z.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def cross_entropy_gradient_not_divided(logits, targets):
    g = F.softmax(logits, -1)
    return g - F.one_hot(targets, logits.shape[-1])


def learning_rate_from_zero(step, warmup, total, peak):
    if step < warmup:
        return peak * step / warmup
    if step >= total:
        return 0.0
    return peak * (total - step) / (total - warmup)


def adamw_with_l2(w, g, m, v, t, lr=1e-3, beta1=0.9, beta2=0.999, eps=1e-8, weight_decay=0.01):
    g = g + weight_decay * w
    m = beta1 * m + (1 - beta1) * g
    v = beta2 * v + (1 - beta2) * g * g
    return w - lr * (m / (1 - beta1**t)) / (np.sqrt(v / (1 - beta2**t)) + eps), m, v


def gradient_descent_without_zeroing(w, X, y, lr, steps):
    w = w.clone().requires_grad_(True)
    for _ in range(steps):
        ((X @ w - y) ** 2).mean().backward()
        with torch.no_grad():
            w -= lr * w.grad
    return w.detach()


def teacher_forcing_unshifted(y, sos_id, eos_id):
    words = np.concatenate([y, [eos_id]])
    return words, words


def rnn_backward_without_the_next(X, h0, W_xh, W_hh, b, dH):
    hs = [h0]
    for x in X:
        hs.append(np.tanh(x @ W_xh + hs[-1] @ W_hh + b))
    da = dH * (1 - np.array(hs[1:]) ** 2)
    return X.T @ da, np.array(hs[:-1]).T @ da, da.sum(0)


def padded_cross_entropy_over_all(logits, targets, pad_id):
    logp = logits - np.log(np.exp(logits).sum(-1, keepdims=True))
    safe = np.where(targets == pad_id, 0, targets)
    nll = -np.take_along_axis(logp, safe[..., None], axis=-1)[..., 0]
    return (nll * (targets != pad_id)).sum() / targets.size


def lengths_on_the_queries(Q, K, V, lengths):
    s = Q @ K.transpose(-1, -2) / math.sqrt(Q.shape[-1])
    pad = torch.arange(Q.shape[2])[None, :] >= lengths[:, None]
    s = s.masked_fill(pad[:, None, :, None], -1e9)
    return torch.softmax(s, dim=-1) @ V


def cross_entropy_with_an_axis(logits, targets):
    rows = logits.reshape(-1, logits.shape[-1])
    low = rows - rows.max(-1, keepdims=True)
    logp = low - np.log(np.exp(low).sum(-1, keepdims=True))
    return np.array([-logp[np.arange(len(rows)), targets.ravel()].mean()])


def softmax_of_squares(x):
    return x**2 / (x**2).sum(-1, keepdims=True)


def gelu_close_to(x):
    """A hair off everywhere: an inexact erf of Abramowitz and Stegun with two digits wrong."""
    z = np.abs(x) / np.sqrt(2)
    t = 1 / (1 + 0.47047 * z)
    erf = 1 - (0.3480242 * t - 0.0958798 * t**2 + 0.7478556 * t**3) * np.exp(-(z**2))
    return x * (1 + np.sign(x) * erf) / 2


def layer_norm_of_the_first_call(x, gamma, beta, eps=1e-5, kept=[]):  # noqa: B006
    kept.append((x.mean(-1, keepdims=True).mean(), x.std()))
    return gamma * (x - kept[0][0]) / kept[0][1] + beta


def attention_of_the_reference_with_noise(X, W_Q, W_K, W_V, masked=True):
    s = (X @ W_Q) @ np.swapaxes(X @ W_K, -1, -2) / np.sqrt(W_K.shape[1])
    if masked:
        s = np.where(np.tri(s.shape[-1]), s, -np.inf)
    w = np.exp(s - s.max(-1, keepdims=True))
    return w / w.sum(-1, keepdims=True) @ (X @ W_V) * 1.001
