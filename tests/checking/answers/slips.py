"""Answers with a slip, or two, as learners make them; the table says which."""

import math

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F


def attention_over_the_columns(X, W_Q, W_K, W_V, masked=True):
    Q, K, V = X @ W_Q, X @ W_K, X @ W_V
    S = Q @ np.swapaxes(K, -1, -2) / np.sqrt(Q.shape[-1])
    if masked:
        S[..., np.triu_indices(S.shape[-1], 1)[0], np.triu_indices(S.shape[-1], 1)[1]] = -np.inf
    A = np.exp(S - S.max(axis=-2, keepdims=True))
    return (A / A.sum(axis=-2, keepdims=True)) @ V


def attention_with_the_wrong_width(X, W_Q, W_K, W_V, masked=True):
    d_model = X.shape[-1]
    s = (X @ W_Q) @ (X @ W_K).mT / math.sqrt(d_model)
    if masked:
        s = s.masked_fill(torch.triu(torch.ones_like(s), 1).bool(), -1e9)
    return F.softmax(s, dim=-1) @ (X @ W_V)


def attention_blind_to_itself(X, W_Q, W_K, W_V, masked=True):
    K = X @ W_K
    s = np.einsum("...id,...jd->...ij", X @ W_Q, K) / K.shape[-1] ** 0.5
    if masked:
        s = np.where(np.tri(s.shape[-1], k=-1) == 1, s, -np.inf)
    with np.errstate(invalid="ignore"):
        e = np.exp(s - s.max(-1, keepdims=True))
    return (e / e.sum(-1, keepdims=True)) @ (X @ W_V)


def attention_that_multiplies_the_mask(X, W_Q, W_K, W_V, masked=True):
    scores = torch.matmul(X @ W_Q, (X @ W_K).transpose(-1, -2)) / W_K.shape[1] ** 0.5
    if masked:
        scores = scores * torch.tril(torch.ones(scores.shape[-2:], dtype=scores.dtype))
    return torch.matmul(scores.softmax(-1), X @ W_V)


def attention_unscaled_and_zeroed_late(X, W_Q, W_K, W_V, masked=True):
    def softmax(z):
        e = np.exp(z - z.max(-1, keepdims=True))
        return e / e.sum(-1, keepdims=True)

    weights = softmax((X @ W_Q) @ np.swapaxes(X @ W_K, -1, -2))
    if masked:
        weights = weights * np.tri(weights.shape[-1])
    return weights @ (X @ W_V)


class AttentionWithTheKeysOfTheQueries(nn.Module):
    def __init__(self, n_embd, head_size, value_size):
        super().__init__()
        self.query = nn.Linear(n_embd, head_size, bias=False)
        self.key = nn.Linear(n_embd, head_size, bias=False)
        self.value = nn.Linear(n_embd, value_size, bias=False)

    def forward(self, x, masked=True):
        q, k, v = self.query(x), self.query(x), self.value(x)
        return F.scaled_dot_product_attention(q, k, v, is_causal=masked)


def heads_without_a_transpose(X, W_Q, W_K, W_V, W_O, n_heads, masked=True):
    T, C = X.shape[-2:]
    lead = X.shape[:-2]
    q, k, v = ((X @ w).reshape(*lead, n_heads, T, C // n_heads) for w in (W_Q, W_K, W_V))
    y = F.scaled_dot_product_attention(q, k, v, is_causal=masked)
    return y.transpose(-3, -2).reshape(X.shape) @ W_O


def heads_glued_in_the_wrong_order(X, W_Q, W_K, W_V, W_O, n_heads, masked=True):
    T, C = X.shape[-2:]
    d = C // n_heads
    q, k, v = (
        np.swapaxes((X @ w).reshape(*X.shape[:-1], n_heads, d), -3, -2) for w in (W_Q, W_K, W_V)
    )
    s = q @ np.swapaxes(k, -1, -2) / np.sqrt(d)
    if masked:
        s = s + np.triu(np.full((T, T), -np.inf), 1)
    s = np.exp(s - s.max(-1, keepdims=True))
    y = s / s.sum(-1, keepdims=True) @ v
    return y.reshape(X.shape) @ W_O


def values_from_the_decoder(X, memory, W_Q, W_K, W_V):
    """Runs only where both texts have one width and one length; else an error of shapes."""
    K = memory @ W_K
    S = (X @ W_Q) @ np.swapaxes(K, -1, -2) / np.sqrt(K.shape[-1])
    A = np.exp(S) / np.exp(S).sum(-1, keepdims=True)
    return A @ (X @ W_V)


def cross_attention_with_a_causal_mask(X, memory, W_Q, W_K, W_V):
    q, k, v = X @ W_Q, memory @ W_K, memory @ W_V
    hidden = torch.ones(q.shape[-2], k.shape[-2], dtype=torch.bool).triu(diagonal=1)
    s = (q @ k.mT / k.shape[-1] ** 0.5).masked_fill(hidden, -torch.inf)
    return torch.softmax(s, -1) @ v


def cache_looked_at_before_it_grows(x, cache, W_Q, W_K, W_V):
    q = np.ravel(x @ W_Q)
    K, V = cache["K"], cache["V"]
    s = K @ q / np.sqrt(len(q))
    w = np.exp(s - s.max(initial=-np.inf)) if len(s) else s
    out = (w / w.sum()) @ V if len(s) else np.zeros(V.shape[1])
    new = {"K": np.vstack([K, x @ W_K]), "V": np.vstack([V, x @ W_V])}
    return out, new


def softmax_without_keepdims(x):
    e = np.exp(x - np.max(x))
    return e / e.sum(axis=-1)


def softmax_of_everything(x):
    e = np.exp(x - x.max())
    return e / e.sum()


def layer_norm_of_a_sample(x, gamma, beta, eps=1e-5):
    mean = x.mean(-1, keepdim=True)
    std = x.std(-1, keepdim=True)
    return gamma * (x - mean) / (std + eps) + beta


def layer_norm_down_the_batch(x, gamma, beta, eps=1e-5):
    mu, var = np.mean(x, axis=0), np.var(x, axis=0)
    return gamma * (x - mu) / np.sqrt(var + eps) + beta


def gelu_sigmoid(x):
    return x * torch.sigmoid(1.702 * x)


def gelu_that_forgot_the_root(x):
    return 0.5 * x * (1 + torch.erf(x))


def cross_entropy_of_a_softmax(logits, targets):
    probs = F.softmax(logits, dim=-1)
    return F.cross_entropy(probs.flatten(0, -2), targets.flatten())


def cross_entropy_in_bits(logits, targets):
    z = logits - logits.max(-1, keepdims=True)
    p = np.exp(z) / np.exp(z).sum(-1, keepdims=True)
    picked = np.take_along_axis(p, np.asarray(targets)[..., None], -1)
    return -np.log2(picked).mean()


def perplexity_with_pads_in_the_mean(logits, targets, pad_id):
    nll = F.cross_entropy(
        logits.flatten(0, -2), targets.flatten(), ignore_index=pad_id, reduction="none"
    )
    return nll.mean().exp()


def positions_doubled(n_positions, d_model):
    pe = np.zeros((n_positions, d_model))
    for pos in range(n_positions):
        for i in range(0, d_model, 2):
            pe[pos, i] = np.sin(pos / 10000 ** (2 * i / d_model))
            pe[pos, i + 1] = np.cos(pos / 10000 ** (2 * i / d_model))
    return pe


def positions_with_two_frequencies(n_positions, d_model):
    table = np.array(
        [
            [pos / np.power(10000, 2 * i / d_model) for i in range(d_model)]
            for pos in range(n_positions)
        ]
    )
    table[:, 0::2] = np.sin(table[:, 0::2])
    table[:, 1::2] = np.cos(table[:, 1::2])
    return table


def temperature_that_multiplies(logits, T):
    z = logits * T
    e = np.exp(z - z.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def top_p_without_the_crossing_one(probs, p):
    srt, idx = torch.sort(probs, dim=-1, descending=True)
    keep = srt.cumsum(-1) <= p
    keep[..., 0] = True
    out = torch.zeros_like(probs).scatter(-1, idx, srt * keep)
    return out / out.sum(-1, keepdim=True)


def rnn_that_forgets(X, h0, W_xh, W_hh, b):
    return np.stack([np.tanh(x @ W_xh + h0 @ W_hh + b) for x in X])


def lstm_in_the_order_of_keras_2(x, h, c, W, U, b):
    i, f, o, g = torch.chunk(x @ W + h @ U + b, 4, dim=-1)
    c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
    return torch.sigmoid(o) * torch.tanh(c), c


def lstm_without_the_last_tanh(x, h, c, W, U, b):
    n = h.shape[-1]
    a = x @ W + h @ U + b
    i, f, o = (1 / (1 + np.exp(-a[..., s * n : (s + 1) * n])) for s in (0, 1, 3))
    c = f * c + i * np.tanh(a[..., 2 * n : 3 * n])
    return o * c, c


def gru_without_reset(x, h, Wz, Uz, bz, Wr, Ur, br, Wn, Un, bn):
    z = 1 / (1 + np.exp(-(x @ Wz + h @ Uz + bz)))
    n = np.tanh(x @ Wn + h @ Un + bn)
    return (1 - z) * n + z * h


def seq2seq_over_the_batch(dec_h, enc_H):
    if dec_h.dim() == 1:
        w = torch.softmax(enc_H @ dec_h, 0)
        return w @ enc_H, w
    w = torch.softmax(torch.einsum("bsh,bh->bs", enc_H, dec_h), dim=0)
    return torch.einsum("bs,bsh->bh", w, enc_H), w


def skipgram_without_the_minus(center, context, negatives, W_in, W_out):
    def log_sigmoid(z):
        return -np.log1p(np.exp(-z))

    v = W_in[center]
    return -log_sigmoid(W_out[context] @ v) - log_sigmoid(W_out[negatives] @ v).sum()


def clip_each_by_itself(grads, max_norm):
    out = []
    for g in grads:
        n = np.sqrt(np.sum(g * g))
        out.append(g * (max_norm / n) if n > max_norm else g)
    return out


def clip_by_value(grads, max_norm):
    return [torch.clamp(g, -max_norm, max_norm) for g in grads]


def adam_uncorrected(w, g, m, v, t, lr=1e-3, beta1=0.9, beta2=0.999, eps=1e-8):
    m = m * beta1 + g * (1 - beta1)
    v = v * beta2 + g * g * (1 - beta2)
    return w - lr * m / (np.sqrt(v) + eps), m, v


def get_batch_where_y_is_x(data, starts, block_size):
    x = np.stack([data[s : s + block_size] for s in starts])
    y = np.stack([data[s : s + block_size] for s in starts])
    return x, y


def get_batch_two_ahead(data, starts, block_size):
    x = torch.stack([data[s : s + block_size] for s in starts])
    y = torch.stack([data[s + 2 : s + block_size + 2] for s in starts])
    return x, y
