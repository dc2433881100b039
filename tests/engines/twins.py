"""Every operation once more, as somebody would write it in PyTorch. Same names, same parameters."""

import torch
from torch import Tensor
from torch.nn import functional


def add(a: Tensor, b: Tensor) -> Tensor:
    return a + b


def multiply(a: Tensor, b: Tensor) -> Tensor:
    return a * b


def linear(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    return functional.linear(x, weight.T, bias)


def linear_pair(x, first, second, first_bias=None, second_bias=None):
    return torch.cat((linear(x, first, first_bias), linear(x, second, second_bias)), -1)


def matmul(left: Tensor, right: Tensor) -> Tensor:
    return left @ right


def embed(ids: Tensor, table: Tensor) -> Tensor:
    return functional.embedding(ids.long(), table)


def softmax(x: Tensor, axis: int = -1) -> Tensor:
    return x.softmax(axis)


def mask_scores(scores: Tensor, allowed: Tensor) -> Tensor:
    return scores.masked_fill(~allowed, -torch.inf)


def attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    *,
    mask: Tensor | None = None,
    causal: bool = False,
    scale: float | None = None,
) -> Tensor:
    if causal and mask is not None:  # PyTorch takes one or the other
        mask, causal = mask & torch.ones_like(mask, dtype=torch.bool).tril(), False
    return functional.scaled_dot_product_attention(
        query, key, value, attn_mask=mask, is_causal=causal, scale=scale
    )


def layer_norm(x: Tensor, gain: Tensor, bias: Tensor, epsilon: float = 1e-5) -> Tensor:
    return functional.layer_norm(x, x.shape[-1:], gain, bias, epsilon)


def rms_norm(x: Tensor, gain: Tensor | None = None, epsilon: float = 1e-6) -> Tensor:
    return functional.rms_norm(x, x.shape[-1:], gain, epsilon)


def squared_relu(x: Tensor) -> Tensor:
    return x.relu() ** 2


def gelu(x: Tensor) -> Tensor:
    return functional.gelu(x, approximate="tanh")


def silu(x: Tensor) -> Tensor:
    return functional.silu(x)


def tanh(x: Tensor) -> Tensor:
    return x.tanh()


def sigmoid(x: Tensor) -> Tensor:
    return x.sigmoid()


def dropout(x: Tensor, keep: Tensor) -> Tensor:
    return x * keep.to(x.dtype)


def rotate(x: Tensor, turn: Tensor) -> Tensor:
    """Written with cosines and sines, not with complex numbers as ours is."""
    even, odd = x[..., 0::2], x[..., 1::2]
    cosine, sine = turn.real.to(x.dtype), turn.imag.to(x.dtype)
    pairs = torch.stack((even * cosine - odd * sine, even * sine + odd * cosine), -1)
    return pairs.flatten(-2)


def rotate_unit(x: Tensor, turn: Tensor, epsilon: float = 1e-6) -> Tensor:
    return rotate(rms_norm(x, epsilon=epsilon), turn)


def split_heads(x: Tensor, heads: int) -> Tensor:
    return x.unflatten(-1, (heads, -1)).transpose(-2, -3)


def part_heads(x: Tensor, count: int) -> tuple[Tensor, Tensor]:
    return x[..., :count, :, :], x[..., count:, :, :]


def merge_heads(x: Tensor) -> Tensor:
    return x.transpose(-2, -3).flatten(-2)


def repeat_heads(x: Tensor, times: int) -> Tensor:
    return x.repeat_interleave(times, -3)


def shift(x: Tensor, before: Tensor | None = None) -> Tensor:
    moved = x.roll(1, -2)
    first = torch.zeros_like(x[..., :1, :]) if before is None else before
    return torch.cat((first, moved[..., 1:, :]), -2)


def transpose(x: Tensor) -> Tensor:
    return x.mT


def reshape(x: Tensor, shape: tuple[int, ...]) -> Tensor:
    return x.contiguous().view(shape)


def rnn(x, hidden, weight_input, weight_hidden, bias=0.0, *, lengths=None):
    """One position after another, as all cells here."""

    def step(row, old):
        return ((row @ weight_input + old @ weight_hidden + bias).tanh(),)

    return _in_turn(step, x, lengths, hidden)


def lstm(x, hidden, cell, weight_input, weight_hidden, bias=0.0, *, lengths=None):
    def step(row, old, memory):
        i, f, g, o = (row @ weight_input + old @ weight_hidden + bias).chunk(4, -1)
        memory = f.sigmoid() * memory + i.sigmoid() * g.tanh()
        return o.sigmoid() * memory.tanh(), memory

    return _in_turn(step, x, lengths, hidden, cell)


def gru(
    x, hidden, weight_input, weight_hidden, bias=0.0, bias_new=0.0, *, reset="after", lengths=None
):
    size = hidden.shape[1]
    u_gates, u_new = weight_hidden[:, : 2 * size], weight_hidden[:, 2 * size :]

    def step(row, old):
        sums = row @ weight_input + bias
        r, z = (sums[:, : 2 * size] + old @ u_gates).sigmoid().chunk(2, -1)
        inner = (r * old) @ u_new if reset == "before" else r * (old @ u_new + bias_new)
        new = (sums[:, 2 * size :] + inner).tanh()
        return ((1 - z) * new + z * old,)

    return _in_turn(step, x, lengths, hidden)


def _in_turn(step, x, lengths, *states):
    outputs = [x.new_zeros(len(x), 0, states[0].shape[1])]
    for place in range(x.shape[1]):
        there = torch.ones(len(x), 1, dtype=torch.bool)
        if lengths is not None:
            there = lengths[:, None] > place
        new = step(x[:, place], *states)
        states = tuple(torch.where(there, n, old) for n, old in zip(new, states, strict=True))
        outputs.append(torch.where(there, new[0], 0)[:, None])
    return torch.cat(outputs, 1), *states


def cross_entropy(logits: Tensor, targets: Tensor, ignore: int = -100) -> Tensor:
    """Divides by hand: where nothing counts, PyTorch's own mean is 0/0."""
    rows, wanted = logits.reshape(-1, logits.shape[-1]), targets.reshape(-1)
    total = functional.cross_entropy(rows, wanted, ignore_index=ignore, reduction="sum")
    return total / (wanted != ignore).sum().clamp(min=1)


def logistic_loss(logits: Tensor, targets: Tensor, weights: Tensor | None = None) -> Tensor:
    """Divides by hand: where nothing counts, PyTorch's own mean is 0/0."""
    weights = torch.ones_like(logits) if weights is None else weights.to(logits.dtype)
    losses = functional.binary_cross_entropy_with_logits(
        logits, targets.to(logits.dtype), reduction="none"
    )
    total = weights.sum()
    return (losses * weights).sum() / (total if total else 1)
