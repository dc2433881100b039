"""Attention as learners write it with PyTorch: functions, and modules of well-known lessons."""

import math
from functools import partial

import torch
from torch import nn
from torch.nn import functional as F


def self_attention_fused(X, W_Q, W_K, W_V, masked=True):
    return F.scaled_dot_product_attention(X @ W_Q, X @ W_K, X @ W_V, is_causal=masked)


def self_attention_of_the_lecture(x, W_Q, W_K, W_V, masked=True):
    k, q, v = x @ W_K, x @ W_Q, x @ W_V
    T, head_size = k.shape[-2:]
    wei = q @ k.transpose(-2, -1) * head_size**-0.5
    if masked:
        tril = torch.tril(torch.ones(T, T))
        wei = wei.masked_fill(tril == 0, float("-inf"))
    return F.softmax(wei, dim=-1) @ v


def self_attention_batched_only(X, W_Q, W_K, W_V, masked=True):
    if X.dim() == 2:
        return self_attention_batched_only(X.unsqueeze(0), W_Q, W_K, W_V, masked).squeeze(0)
    scores = torch.bmm(X @ W_Q, (X @ W_K).transpose(1, 2)) / math.sqrt(W_Q.size(1))
    if masked:
        scores += torch.full_like(scores[0], -1e9).triu(1)
    return torch.bmm(torch.softmax(scores, 2), X @ W_V)


class Head(nn.Module):
    """One head, as in the lecture "let's build GPT": the width of the text is 7, of the head 3."""

    def __init__(self, n_embd=7, head_size=3, block_size=64, dropout=0.2):
        super().__init__()
        self.key = nn.Linear(n_embd, head_size, bias=False)
        self.query = nn.Linear(n_embd, head_size, bias=False)
        self.value = nn.Linear(n_embd, head_size, bias=False)
        self.register_buffer("tril", torch.tril(torch.ones(block_size, block_size)))
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        _B, T, _C = x.shape
        k = self.key(x)
        q = self.query(x)
        wei = q @ k.transpose(-2, -1) * k.shape[-1] ** -0.5
        wei = wei.masked_fill(self.tril[:T, :T] == 0, float("-inf"))
        wei = self.dropout(F.softmax(wei, dim=-1))
        return wei @ self.value(x)


class SelfAttention(nn.Module):
    def __init__(self, d_in, d_k, d_v):
        super().__init__()
        self.W_Q = nn.Parameter(torch.rand(d_in, d_k))
        self.W_K = nn.Parameter(torch.rand(d_in, d_k))
        self.W_V = nn.Parameter(torch.rand(d_in, d_v))

    def forward(self, x, masked=True):
        return self_attention_of_the_lecture(x, self.W_Q, self.W_K, self.W_V, masked)


class CausalSelfAttention(nn.Module):
    """The three projections in one, as in nanoGPT."""

    def __init__(self, n_embd, n_head):
        super().__init__()
        assert n_embd % n_head == 0
        self.c_attn = nn.Linear(n_embd, 3 * n_embd, bias=False)
        self.c_proj = nn.Linear(n_embd, n_embd, bias=False)
        self.attn_dropout = nn.Dropout(0.1)
        self.resid_dropout = nn.Dropout(0.1)
        self.n_head, self.n_embd = n_head, n_embd

    def forward(self, x):
        B, T, C = x.size()
        q, k, v = self.c_attn(x).split(self.n_embd, dim=2)
        k = k.view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
        q = q.view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
        v = v.view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
        att = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(k.size(-1)))
        bias = torch.tril(torch.ones(T, T)).view(1, 1, T, T)
        att = F.softmax(att.masked_fill(bias == 0, float("-inf")), dim=-1)
        y = self.attn_dropout(att) @ v
        y = y.transpose(1, 2).contiguous().view(B, T, C)
        return self.resid_dropout(self.c_proj(y))


class MultiHeadedAttention(nn.Module):
    """Four linear layers and a mask, as in the Annotated Transformer; with biases."""

    def __init__(self, h, d_model, dropout=0.1):
        super().__init__()
        self.d_k, self.h = d_model // h, h
        self.linears = nn.ModuleList([nn.Linear(d_model, d_model) for _ in range(4)])
        self.dropout = nn.Dropout(p=dropout)

    def forward(self, x, masked=True):
        n = x.size(0)
        query, key, value = (
            lin(x).view(n, -1, self.h, self.d_k).transpose(1, 2)
            for lin, x in zip(self.linears, (x, x, x), strict=False)
        )
        scores = torch.matmul(query, key.transpose(-2, -1)) / math.sqrt(self.d_k)
        if masked:
            mask = torch.triu(torch.ones(1, x.size(1), x.size(1)), diagonal=1) == 0
            scores = scores.masked_fill(mask.unsqueeze(1) == 0, -1e9)
        x = torch.matmul(self.dropout(scores.softmax(dim=-1)), value)
        x = x.transpose(1, 2).contiguous().view(n, -1, self.h * self.d_k)
        return self.linears[-1](x)


class ManyHeads(nn.Module):
    """A list of single heads, side by side, as in the lecture."""

    def __init__(self, num_heads, n_embd):
        super().__init__()
        size = n_embd // num_heads
        self.heads = nn.ModuleList([Head(n_embd, size) for _ in range(num_heads)])
        self.proj = nn.Linear(n_embd, n_embd)

    def forward(self, x):
        return self.proj(torch.cat([h(x) for h in self.heads], dim=-1))


def multi_head_fused(X, W_Q, W_K, W_V, W_O, n_heads, masked=True):
    def heads(t):
        return t.unflatten(-1, (n_heads, -1)).transpose(-3, -2)

    y = F.scaled_dot_product_attention(
        heads(X @ W_Q), heads(X @ W_K), heads(X @ W_V), is_causal=masked
    )
    return y.transpose(-3, -2).flatten(-2) @ W_O


def multi_head_of_torch(X, W_Q, W_K, W_V, W_O, n_heads, masked=True):
    T = X.shape[-2]
    x = X.reshape(-1, T, X.shape[-1]).transpose(0, 1)
    hide = torch.ones(T, T, dtype=torch.bool).triu(1) if masked else None
    out, weights = F.multi_head_attention_forward(
        x, x, x, X.shape[-1], n_heads, None, None, None, None, False, 0.0, W_O.T, None,
        attn_mask=hide, need_weights=True, use_separate_proj_weight=True,
        q_proj_weight=W_Q.T, k_proj_weight=W_K.T, v_proj_weight=W_V.T,
    )  # fmt: skip
    return out.transpose(0, 1).reshape(X.shape), weights


def cross_attention_with_einsum(x, memory, W_Q, W_K, W_V):
    w = torch.einsum("...tc,cd,...sm,md->...ts", x, W_Q, memory, W_K) / W_Q.shape[1] ** 0.5
    return torch.einsum("...ts,...sm,mv->...tv", w.softmax(-1), memory, W_V)


class CrossAttention(nn.Module):
    def __init__(self, d_model, d_memory, d_k, d_v):
        super().__init__()
        self.to_q = nn.Linear(d_model, d_k, bias=False)
        self.to_k = nn.Linear(d_memory, d_k, bias=False)
        self.to_v = nn.Linear(d_memory, d_v, bias=False)

    def forward(self, x, memory):
        return F.scaled_dot_product_attention(self.to_q(x), self.to_k(memory), self.to_v(memory))


def _attend(X, W_Q, W_K, W_V, masked=True, *, fill):
    s = (X @ W_Q) @ (X @ W_K).mT / math.sqrt(W_K.shape[-1])
    if masked:
        s = torch.where(torch.ones_like(s).tril().bool(), s, fill)
    return s.softmax(dim=-1).matmul(X @ W_V)


self_attention_as_a_partial = partial(_attend, fill=-torch.inf)


def cache_step_of_torch(x, cache, W_Q, W_K, W_V):
    K = torch.cat([cache["K"], (x @ W_K).view(1, -1)])
    V = torch.cat([cache["V"], (x @ W_V).view(1, -1)])
    out = F.scaled_dot_product_attention((x @ W_Q).view(1, -1), K, V)
    return out.view(-1), {"K": K, "V": V}
