"""Softmax, norms, GELU, positions and sampling as learners write them."""

import math

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

softmax_as_a_lambda = lambda z: np.exp(z - np.logaddexp.reduce(z, axis=-1, keepdims=True))  # noqa: E731


def softmax_by_rows(x):
    flat = x.reshape(-1, x.shape[-1])
    out = np.empty(flat.shape)
    for i, row in enumerate(flat):
        top = max(row)
        e = [2.0 ** ((v - top) / math.log(2)) for v in row]
        out[i] = np.array(e) / sum(e)
    return out.reshape(x.shape)


def softmax_online(x):
    m = np.full(x.shape[:-1], -np.inf)
    d = np.zeros(x.shape[:-1])
    for j in range(x.shape[-1]):
        new = np.maximum(m, x[..., j])
        d = d * np.exp(m - new) + np.exp(x[..., j] - new)
        m = new
    return np.exp(x - m[..., None]) / d[..., None]


def softmax_transposed(x):
    e = np.exp(x.T - x.T.max(0))
    return (e / e.sum(0)).T


def softmax_by_tanh(x):
    """Two tanhs for each pair: exp(b - a) by way of a sum over all pairs of differences."""
    return 1 / np.exp(np.minimum(x[..., None, :] - x[..., :, None], 700)).sum(-1)


def softmax_of_torch(x):
    return torch.softmax(x, -1)


def softmax_for_lists_too(x, axis=-1, temperature=1.0):
    x = np.asarray(x, dtype=float) / temperature
    shifted = x - np.amax(x, axis=axis, keepdims=True)
    return np.exp(shifted) / np.sum(np.exp(shifted), axis=axis, keepdims=True)


def layer_norm_of_torch(x, gamma, beta, eps=1e-5):
    return F.layer_norm(x, x.shape[-1:], gamma, beta, eps)


def layer_norm_by_moments(x, gamma, beta, eps=1e-5):
    mu = x.mean(-1, keepdims=True)
    return (x - mu) * gamma / np.sqrt(((x - mu) ** 2).mean(-1, keepdims=True) + eps) + beta


def layer_norm_row_by_row(x, g, b, epsilon=1e-5):
    if x.ndim > 1:
        return np.stack([layer_norm_row_by_row(r, g, b, epsilon) for r in x])
    n = len(x)
    mean = sum(x) / n
    var = sum((xi - mean) ** 2 for xi in x) / n
    return np.array([g[i] * (x[i] - mean) * (var + epsilon) ** -0.5 + b[i] for i in range(n)])


class LayerNorm(nn.Module):
    """Like the one of nanoGPT: a weight and a bias."""

    def __init__(self, ndim, bias=True):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(ndim))
        self.bias = nn.Parameter(torch.zeros(ndim)) if bias else None

    def forward(self, input):
        return F.layer_norm(input, self.weight.shape, self.weight, self.bias, 1e-5)


class LayerNormOfTheLecture(nn.Module):
    def __init__(self, d, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.gamma = nn.Parameter(torch.ones(d))
        self.beta = nn.Parameter(torch.zeros(d))

    def forward(self, x):
        xmean = x.mean(-1, keepdim=True)
        xvar = x.var(-1, keepdim=True, unbiased=False)
        return self.gamma * ((x - xmean) / torch.sqrt(xvar + self.eps)) + self.beta


gelu_with_vectorize = lambda x: x * 0.5 * (1 + np.vectorize(math.erf)(x / np.sqrt(2)))  # noqa: E731


def gelu_with_erfc(x):
    flat = np.asarray(x, float).ravel()
    return np.reshape([v * math.erfc(-v / math.sqrt(2)) / 2 for v in flat], np.shape(x))


def gelu_of_torch(x):
    return F.gelu(x)


def gelu_tanh_factored(x):
    return 0.5 * x * (1 + np.tanh(x * 0.7978845608028654 * (1 + 0.044715 * x * x)))


def gelu_from_a_distribution(x):
    return x * torch.distributions.Normal(0.0, 1.0).cdf(x)


def positions_by_loops(n_positions, d_model):
    pe = [[0.0] * d_model for _ in range(n_positions)]
    for pos in range(n_positions):
        for i in range(d_model // 2):
            pe[pos][2 * i] = math.sin(pos / (10000 ** (2 * i / d_model)))
            pe[pos][2 * i + 1] = math.cos(pos / (10000 ** (2 * i / d_model)))
    return np.array(pe)


def positions_annotated(max_len, d_model):
    pe = torch.zeros(max_len, d_model)
    position = torch.arange(0, max_len).unsqueeze(1)
    div_term = torch.exp(torch.arange(0, d_model, 2) * -(math.log(10000.0) / d_model))
    pe[:, 0::2] = torch.sin(position * div_term)
    pe[:, 1::2] = torch.cos(position * div_term)
    return pe


def positions_d2l(n, d):
    P = np.zeros((1, n, d))
    X = np.arange(n, dtype=np.float32).reshape(-1, 1) / np.power(
        10000, np.arange(0, d, 2, dtype=np.float32) / d
    )
    P[:, :, 0::2], P[:, :, 1::2] = np.sin(X), np.cos(X)
    return P[0]


def positions_complex(n, d):
    z = np.exp(1j * np.outer(np.arange(n), 10000.0 ** (-np.arange(0, d, 2) / d)))
    return np.stack([z.imag, z.real], axis=-1).reshape(n, d)


def temperature_by_powers(logits, T):
    if T == 0:
        return (logits == logits.max(-1, keepdims=True)).astype(float)
    p = softmax_online(logits / T)
    return p


def temperature_after_log_softmax(logits, T, tiny=1e-12):
    if tiny > T:
        return F.one_hot(logits.argmax(-1), logits.shape[-1]).to(logits.dtype)
    return F.softmax(F.log_softmax(logits, -1) / T, dim=-1)


def top_p_one_by_one(probs, p):
    if probs.ndim > 1:
        return np.array([top_p_one_by_one(row, p) for row in probs])
    order = sorted(range(len(probs)), key=lambda i: -probs[i])
    kept, total = [], 0.0
    for i in order:
        kept.append(i)
        total += probs[i]
        if total >= p:
            break
    out = np.zeros(len(probs))
    out[kept] = probs[kept]
    return out / out.sum()


def top_p_of_transformers(probs, p):
    sorted_probs, sorted_indices = torch.sort(probs, descending=True)
    cumulative = sorted_probs.cumsum(dim=-1)
    remove = cumulative > p
    remove[..., 1:] = remove[..., :-1].clone()
    remove[..., 0] = False
    mask = torch.zeros_like(remove).scatter(-1, sorted_indices, remove)
    q = probs.masked_fill(mask, 0.0)
    return q / q.sum(-1, keepdim=True)


def top_p_by_before(probs, p):
    """What lies strictly above each token in the order must not have reached p yet."""
    above = (probs[..., None, :] > probs[..., :, None]) * probs[..., None, :]
    keep = above.sum(-1) < p
    return probs * keep / (probs * keep).sum(-1, keepdims=True)
