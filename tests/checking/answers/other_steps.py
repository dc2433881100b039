"""Other steps as learners write them: embedding, rotation, masks, blocks, sampling, optimizers."""

import math

import numpy as np
import torch
import torch._dynamo  # the first step of an optimizer imports it, which takes seconds
from torch import nn
from torch.nn import functional as F

one_hot_by_eye = lambda ids, vocab_size: np.eye(vocab_size, dtype=int)[ids]  # noqa: E731


def one_hot_by_comparison(ids, V):
    return (np.asarray(ids)[:, None] == np.arange(V)[None]).astype(np.float32)


def embedding_functional(ids, table):
    return F.embedding(ids, table)


def embedding_as_a_product(idx, emb):
    return np.equal.outer(idx, np.arange(emb.shape[0])) @ emb


def embedding_gradient_with_add_at(ids, grad, vocab_size):
    dE = np.zeros((vocab_size, grad.shape[1]))
    np.add.at(dE, ids, grad)
    return dE


def embedding_gradient_by_autograd(ids, grad, vocab_size):
    table = torch.zeros(vocab_size, grad.shape[-1], requires_grad=True, dtype=grad.dtype)
    (table[ids] * grad).sum().backward()
    return table.grad


def rotary_as_complex(x, positions):
    d = x.shape[-1]
    theta = 1.0 / 10000 ** (torch.arange(0, d, 2)[: d // 2].float() / d)
    angles = torch.outer(positions.float(), theta)
    z = torch.view_as_complex(x.float().reshape(*x.shape[:-1], -1, 2).contiguous())
    turned = z * torch.polar(torch.ones_like(angles), angles)
    return torch.view_as_real(turned).flatten(-2)


def rotary_of_llama(x, positions):
    """Two halves, as in the code of Hugging Face."""
    d = x.shape[-1]
    inv_freq = 1.0 / (10000 ** (np.arange(0, d, 2) / d))
    angles = positions[:, None] * inv_freq
    cos, sin = np.tile(np.cos(angles), 2), np.tile(np.sin(angles), 2)
    half = np.concatenate([-x[..., d // 2 :], x[..., : d // 2]], axis=-1)
    return x * cos + half * sin


def causal_mask_with_triu(scores):
    scores = scores.clone()
    T = scores.size(-1)
    return scores.masked_fill(torch.triu(torch.ones(T, T, dtype=torch.bool), 1), -1e9)


def causal_mask_by_loops(scores):
    out = np.array(scores, copy=True)
    for i in range(out.shape[-1]):
        for j in range(i + 1, out.shape[-1]):
            out[..., i, j] = float("-inf")
    return out


def padding_mask_for_scores(ids, pad_id):
    return (ids != pad_id).unsqueeze(1).unsqueeze(2)


def query_key_value_fused(X, W_Q, W_K, W_V):
    qkv = X @ np.concatenate([W_Q, W_K, W_V], axis=1)
    a, b = W_Q.shape[1], W_Q.shape[1] + W_K.shape[1]
    return qkv[..., :a], qkv[..., a:b], qkv[..., b:]


def split_heads_with_einops_in_mind(X, n_heads):
    return np.stack(np.split(X, n_heads, axis=-1), axis=-3)


def merge_heads_by_permute(heads):
    return torch.cat(heads.unbind(-3), dim=-1)


class RMSNorm(nn.Module):
    def __init__(self, dim, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(dim))

    def _norm(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps)

    def forward(self, x):
        return self._norm(x.float()).type_as(x) * self.weight


def rms_norm_by_length(x, g, eps=1e-5):
    d = x.shape[-1]
    return g * x / np.sqrt(np.linalg.norm(x, axis=-1, keepdims=True) ** 2 / d + eps)


class MLP(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.c_fc = nn.Linear(config.n_embd, config.hidden)
        self.gelu = nn.GELU()
        self.c_proj = nn.Linear(config.hidden, config.n_embd)
        self.dropout = nn.Dropout(config.dropout)

    def forward(self, x):
        return self.dropout(self.c_proj(self.gelu(self.c_fc(x))))


class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(d_model, d_ff), nn.GELU(), nn.Linear(d_ff, d_model))

    def forward(self, x):
        return self.net(x)


class FeedForwardOfTheLecture(nn.Module):
    """Four times as wide inside, always."""

    def __init__(self, n_embd):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(n_embd, 4 * n_embd),
            nn.GELU(),
            nn.Linear(4 * n_embd, n_embd),
            nn.Dropout(0.2),
        )

    def forward(self, x):
        return self.net(x)


class LayersByName(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.w1, self.w2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)

    def forward(self, x):
        return self.w2(F.gelu(self.w1(x)))


def feed_forward_tanh(x, W1, b1, W2, b2):
    u = x @ W1 + b1
    return (u * (np.tanh(math.sqrt(2 / math.pi) * (u + 0.044715 * u**3)) + 1) / 2) @ W2 + b2


def pre_norm_block_of_torch(x, W_1, W_2):
    for W in (W_1, W_2):
        x = x + F.layer_norm(x, x.shape[-1:]) @ W
    return x


def attention_with_a_bias(Q, K, V, lengths):
    bias = np.where(np.arange(K.shape[2]) < lengths[:, None, None, None], 0, -1e9)
    s = np.einsum("bhtd,bhsd->bhts", Q, K) / Q.shape[-1] ** 0.5 + bias
    w = np.exp(s - s.max(-1, keepdims=True))
    return np.einsum("bhts,bhsd->bhtd", w / w.sum(-1, keepdims=True), V)


def top_k_of_the_lecture(logits, k):
    logits = logits.clone()
    v, _ = torch.topk(logits, min(k, logits.size(-1)))
    logits[logits < v[..., [-1]]] = -float("Inf")
    return F.softmax(logits, dim=-1)


def top_k_by_argpartition(z, k):
    k = min(k, z.shape[-1])
    keep = np.argpartition(z, -k, axis=-1)[..., -k:]
    e = np.zeros(z.shape)
    np.put_along_axis(
        e, keep, np.exp(np.take_along_axis(z, keep, -1) - z.max(-1, keepdims=True)), -1
    )
    return e / e.sum(-1, keepdims=True)


def cross_entropy_gradient_by_autograd(logits, targets):
    z = logits.detach().clone().requires_grad_()
    F.cross_entropy(z.flatten(0, -2), targets.flatten()).backward()
    return z.grad


def cross_entropy_gradient_p_minus_y(logits, targets):
    p = np.exp(logits - np.logaddexp.reduce(logits, axis=-1)[..., None])
    y = targets[..., None] == np.arange(logits.shape[-1])
    return (p - y) / targets.size


def learning_rate_of_nanogpt(it, warmup_iters, lr_decay_iters, learning_rate):
    """Down along a cosine, to nothing."""
    if it < warmup_iters:
        return learning_rate * (it + 1) / (warmup_iters + 1)
    if it >= lr_decay_iters:
        return 0.0
    ratio = (it - warmup_iters) / (lr_decay_iters - warmup_iters)
    return 0.5 * (1.0 + math.cos(math.pi * ratio)) * learning_rate


def adamw_of_torch(w, g, m, v, t, lr=1e-3, beta1=0.9, beta2=0.999, eps=1e-8, weight_decay=0.01):
    p = nn.Parameter(w.clone())
    p.grad = g.clone()
    opt = torch.optim.AdamW([p], lr=lr, betas=(beta1, beta2), eps=eps, weight_decay=weight_decay)
    opt.state[p] = {"step": torch.tensor(float(t - 1)), "exp_avg": m, "exp_avg_sq": v}
    opt.step()
    return p.detach(), m, v


def gradient_descent_by_autograd(w, X, y, lr, steps):
    w = w.clone().requires_grad_(True)
    for _ in range(steps):
        loss = F.mse_loss(X @ w, y)
        w.grad = None
        loss.backward()
        with torch.no_grad():
            w -= lr * w.grad
    return w.detach()


def gradient_descent_by_hand(w, X, y, lr, steps):
    A, b = X.T @ X * 2 / len(y), X.T @ y * 2 / len(y)
    for _ in range(steps):
        w = w - lr * (A @ w - b)
    return w


def teacher_forcing_with_lists(y, sos_id, eos_id):
    words = [sos_id, *y, eos_id]
    return np.array(words[:-1]), np.array(words[1:])


def noise_by_exp_log(counts):
    p = np.exp(0.75 * np.log(counts))
    return p / np.sum(p)


def encoder_state_by_gather(H, lengths):
    last = (lengths - 1).view(-1, 1, 1).expand(-1, 1, H.size(2))
    return H.gather(1, last).squeeze(1)


def rnn_backward_by_autograd(X, h0, W_xh, W_hh, b, dH):
    W_xh, W_hh, b = (p.clone().requires_grad_() for p in (W_xh, W_hh, b))
    h, loss = h0, 0.0
    for x, d in zip(X, dH, strict=True):
        h = torch.tanh(x @ W_xh + h @ W_hh + b)
        loss = loss + (h * d).sum()
    loss.backward()
    return W_xh.grad, W_hh.grad, b.grad


def truncated_by_detach(X, h0, W_xh, W_hh, chunk):
    W_xh, W_hh = W_xh.clone().requires_grad_(), W_hh.clone().requires_grad_()
    h = h0
    for part in X.split(chunk):
        h, loss = h.detach(), 0
        for x in part:
            h = torch.tanh(x @ W_xh + h @ W_hh)
            loss = loss + h.sum()
        loss.backward()
    return W_xh.grad, W_hh.grad


def tied_gradient_in_two_parts(table, ids, d_inputs, hidden, d_logits):
    V, C = table.shape
    onehot = np.eye(V)[ids].reshape(-1, V)
    return onehot.T @ d_inputs.reshape(-1, C) + d_logits.reshape(-1, V).T @ hidden.reshape(-1, C)
