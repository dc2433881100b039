"""Recurrent steps as learners write them."""

import itertools

import numpy as np
import torch
from torch import nn


def sigmoid(z):
    return 1 / (1 + np.exp(-z))


def rnn_by_accumulate(X, h0, W_xh, W_hh, b):
    states = itertools.accumulate(X @ W_xh + b, lambda h, a: np.tanh(a + h @ W_hh), initial=h0)
    return np.array(list(states)[1:])


def rnn_into_a_buffer(xs, h, Wx, Wh, bias):
    H = np.zeros((xs.shape[0], h.shape[0]))
    for t, x in enumerate(xs):
        z = np.concatenate([x, h]) @ np.vstack([Wx, Wh]) + bias
        h = 2 * sigmoid(2 * z) - 1
        H[t] = h
    return H


def rnn_of_torch(X, h0, W_xh, W_hh, b):
    rnn = nn.RNN(*W_xh.shape, batch_first=True).to(X.dtype)
    with torch.no_grad():
        rnn.weight_ih_l0.copy_(W_xh.T)
        rnn.weight_hh_l0.copy_(W_hh.T)
        rnn.bias_ih_l0.copy_(b)
        rnn.bias_hh_l0.zero_()
    return rnn(X, h0.unsqueeze(0))[0]


def lstm_by_split(x, h, c, W, U, b):
    i, f, g, o = np.split(x @ W + h @ U + b, 4, axis=-1)
    c_new = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
    return sigmoid(o) * np.tanh(c_new), c_new


def lstm_by_columns(x, h, c, W, U, b):
    n = h.shape[-1]
    a = np.matmul(x, W) + np.matmul(h, U) + b
    gate = {k: a[..., j * n : (j + 1) * n] for j, k in enumerate("ifgo")}
    gate = {k: np.tanh(v) if k == "g" else sigmoid(v) for k, v in gate.items()}
    c = gate["f"] * c + gate["i"] * gate["g"]
    return gate["o"] * np.tanh(c), c, gate


def lstm_of_torch(x, h, c, W, U, b):
    cell = nn.LSTMCell(x.shape[-1], h.shape[-1]).to(x.dtype)
    cell.weight_ih.data, cell.weight_hh.data = W.T.contiguous(), U.T.contiguous()
    cell.bias_ih.data, cell.bias_hh.data = b, torch.zeros_like(b)
    return cell(x, (h, c))


class LSTMOfTwoLayers(nn.Module):
    """A bias in each of the two layers that are added; the exercise has one."""

    def __init__(self, input_size, hidden_size):
        super().__init__()
        self.W = nn.Linear(input_size, 4 * hidden_size)
        self.U = nn.Linear(hidden_size, 4 * hidden_size)

    def forward(self, x, h, c):
        i, f, g, o = (self.W(x) + self.U(h)).chunk(4, dim=-1)
        c = f.sigmoid() * c + i.sigmoid() * g.tanh()
        return o.sigmoid() * c.tanh(), c


class RNNLoop(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.W_xh, self.W_hh = nn.Linear(d, h), nn.Linear(h, h)

    def forward(self, X, h):
        out = []
        for x in X:
            h = torch.tanh(self.W_xh(x) + self.W_hh(h))
            out.append(h)
        return torch.stack(out)


def gru_plain(x, h, Wz, Uz, bz, Wr, Ur, br, Wn, Un, bn):
    z = sigmoid(x @ Wz + h @ Uz + bz)
    r = sigmoid(x @ Wr + h @ Ur + br)
    n = np.tanh(x @ Wn + (r * h) @ Un + bn)
    return n + z * (h - n)


def gru_as_torch_defines_it(x, h, *params):
    Wz, Uz, bz, Wr, Ur, br, Wn, Un, bn = params
    z = torch.sigmoid(x @ Wz + h @ Uz + bz)
    r = torch.sigmoid(x @ Wr + h @ Ur + br)
    n = torch.tanh(x @ Wn + bn + r * (h @ Un))
    return torch.lerp(n, h, z)


def gru_where_z_keeps_the_new(x, h, Wz, Uz, bz, Wr, Ur, br, Wn, Un, bn):
    update, reset = (sigmoid(x @ w + h @ u + b) for w, u, b in ((Wz, Uz, bz), (Wr, Ur, br)))
    candidate = np.tanh(x @ Wn + (reset * h) @ Un + bn)
    return update * candidate + (1 - update) * h


def seq2seq_by_einsum(dec_h, enc_H):
    scores = np.einsum("...h,...sh->...s", dec_h, enc_H)
    w = np.exp(scores - scores.max(-1, keepdims=True))
    w = w / w.sum(-1, keepdims=True)
    return np.einsum("...s,...sh->...h", w, enc_H), w


def seq2seq_of_torch(dec_h, enc_H):
    energy = torch.matmul(enc_H, dec_h.unsqueeze(-1)).squeeze(-1)
    attn = torch.softmax(energy, dim=-1)
    return (attn.unsqueeze(-2) @ enc_H).squeeze(-2), attn


def seq2seq_word_by_word(dec_h, enc_H):
    if dec_h.ndim == 2:
        pairs = [seq2seq_word_by_word(d, e) for d, e in zip(dec_h, enc_H, strict=True)]
        return np.array([c for c, _ in pairs]), np.array([w for _, w in pairs])
    e = np.exp([np.dot(word, dec_h) for word in enc_H])
    a = e / e.sum()
    return sum(ai * word for ai, word in zip(a, enc_H, strict=True)), a
