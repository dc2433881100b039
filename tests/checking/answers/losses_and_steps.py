"""Losses, batches, clipping and Adam as learners write them."""

import math

import numpy as np
import torch
from torch.nn import functional as F


def cross_entropy_by_loops(logits, targets):
    logits, targets = logits.reshape(-1, logits.shape[-1]), np.ravel(targets)
    total = 0.0
    for row, t in zip(logits, targets, strict=True):
        m = row.max()
        total += m + math.log(sum(math.exp(v - m) for v in row)) - row[t]
    return total / len(targets)


def cross_entropy_of_torch(logits, targets):
    return F.cross_entropy(logits.reshape(-1, logits.size(-1)), targets.reshape(-1))


def cross_entropy_by_one_hot(logits, targets):
    z = logits - logits.max(axis=-1, keepdims=True)
    log_p = z - np.log(np.exp(z).sum(axis=-1, keepdims=True))
    y = np.eye(logits.shape[-1])[targets]
    return -np.mean(np.sum(y * log_p, axis=-1))


def cross_entropy_in_bits_times_ln2(y_hat, y):
    B = y_hat * np.log2(np.e)
    top = B.max(-1)
    lse = top + np.log2(np.exp2(B - top[..., None]).sum(-1))
    picked = np.take_along_axis(B, y[..., None], axis=-1)[..., 0]
    return (lse - picked).mean() * np.log(2)


def cross_entropy_fancy_and_axes_swapped(logits, targets):
    return F.nll_loss(F.log_softmax(logits, -1).movedim(-1, 1), targets).item()


def perplexity_of_torch(logits, targets, pad_id):
    return torch.exp(F.cross_entropy(logits.flatten(0, -2), targets.flatten(), ignore_index=pad_id))


def perplexity_as_a_geometric_mean(logits, targets, pad_id):
    keep = targets != pad_id
    z, t = logits[keep], targets[keep]
    p = np.exp(z - z.max(1, keepdims=True))
    p = p[np.arange(len(t)), t] / p.sum(1)
    return np.prod(1 / p) ** (1 / len(p))


def perplexity_base_2(logits, targets, pad_id=-100):
    mask = (targets != pad_id).astype(float)
    log2p = (logits - np.logaddexp.reduce(logits, -1, keepdims=True)) / math.log(2)
    safe = np.where(targets == pad_id, 0, targets)
    h = -(np.take_along_axis(log2p, safe[..., None], -1).squeeze(-1) * mask).sum() / mask.sum()
    return 2**h


def get_batch_nanogpt(data, ix, block_size):
    x = torch.stack([data[i : i + block_size] for i in ix])
    y = torch.stack([data[i + 1 : i + 1 + block_size] for i in ix])
    return x, y


def get_batch_by_index(data, starts, block_size):
    where = np.asarray(starts)[:, None] + np.arange(block_size + 1)
    chunk = data[where]
    return chunk[:, :-1], chunk[:, 1:]


def get_batch_as_views(data, starts, T):
    windows = np.lib.stride_tricks.sliding_window_view(data, T)
    return windows[starts], windows[starts + 1]


def clip_like_torch(grads, max_norm):
    total = torch.norm(torch.stack([torch.norm(g, 2) for g in grads]), 2)
    coef = torch.clamp(max_norm / (total + 1e-6), max=1.0)
    return [g * coef for g in grads]


def clip_in_place(grads, max_norm):
    norm = sum((g**2).sum() for g in grads) ** 0.5
    if norm > max_norm:
        for g in grads:
            np.multiply(g, max_norm / norm, out=g)
    return grads


def clip_by_one_vector(grads, max_norm):
    flat = np.concatenate([np.ravel(g) for g in grads])
    flat = flat / max(1.0, np.linalg.norm(flat) / max_norm)
    out = []
    for g in grads:
        out.append(flat[: g.size].reshape(g.shape))
        flat = flat[g.size :]
    return tuple(out)


def adam_kingma_efficient(w, g, m, v, t, lr=1e-3, beta1=0.9, beta2=0.999, eps=1e-8):
    """The order of the paper's section 2: the correction goes into the step size."""
    m = beta1 * m + (1 - beta1) * g
    v = beta2 * v + (1 - beta2) * g**2
    step = lr * np.sqrt(1 - beta2**t) / (1 - beta1**t)
    return w - step * m / (np.sqrt(v) + eps * np.sqrt(1 - beta2**t)), m, v


def adam_by_lerp(w, g, m, v, t, lr=1e-3, beta1=0.9, beta2=0.999, eps=1e-8):
    m.lerp_(g, 1 - beta1)
    v.mul_(beta2).addcmul_(g, g, value=1 - beta2)
    denom = (v / (1 - beta2**t)).sqrt_().add_(eps)
    w.addcdiv_(m / (1 - beta1**t), denom, value=-lr)
    return w, m, v


def adam_by_scalars(w, g, m, v, t, lr=1e-3, beta1=0.9, beta2=0.999, eps=1e-8):
    new_w, new_m, new_v = np.copy(w), np.copy(m), np.copy(v)
    for i in np.ndindex(*np.shape(w)):
        new_m[i] += (g[i] - m[i]) * (1 - beta1)
        new_v[i] += (g[i] ** 2 - v[i]) * (1 - beta2)
        mh, vh = new_m[i] / (1 - beta1**t), new_v[i] / (1 - beta2**t)
        new_w[i] -= lr * mh / (math.sqrt(vh) + eps)
    return [new_w, new_m, new_v]


def skipgram_with_softplus(center, context, negatives, W_in, W_out):
    v = W_in[center]
    return np.logaddexp(0, -W_out[context] @ v) + np.logaddexp(0, W_out[negatives] @ v).sum()


def skipgram_of_torch(center, context, negatives, W_in, W_out):
    score = W_out[torch.cat([torch.as_tensor(context).view(1), negatives])] @ W_in[center]
    label = torch.zeros_like(score)
    label[0] = 1
    return F.binary_cross_entropy_with_logits(score, label, reduction="sum")


def skipgram_by_loops(center, context, negatives, W_in, W_out):
    def sigmoid(z):
        return 1 / (1 + math.exp(-z))

    loss = -math.log(sigmoid(float(W_in[center] @ W_out[context])))
    for n in negatives:
        loss -= math.log(sigmoid(-float(W_in[center] @ W_out[n])))
    return loss
