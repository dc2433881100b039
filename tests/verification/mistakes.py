"""Operations of the PyTorch engine with a mistake in each.

Each function takes the engine, whose right operations it may use, and returns the wrong operation.
"""

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import torch
from torch.nn import functional

from clearformer.engines.torch.constants import constant

Wrong = Callable[..., Any]

MISTAKES: dict[tuple[str, str], Callable[[ModuleType], Wrong]] = {}
"""By operation and a description of the mistake."""


def mistake(operation: str, what: str) -> Callable[[Callable[[ModuleType], Wrong]], Any]:
    def enter(make: Callable[[ModuleType], Wrong]) -> Any:
        MISTAKES[operation, what] = make
        return make

    return enter


def with_slope(value: Any, x: Any, factor: float) -> Any:
    """The same value; the slope is `factor` more than it should be."""
    return value + factor * (x - x.detach())


@mistake("add", "one side gets no gradient")
def _add(engine: ModuleType) -> Wrong:
    right = engine.add
    return lambda a, b: right(a, b.detach() if isinstance(b, torch.Tensor) else b)


@mistake("multiply", "a number in a hundred is lost")
def _multiply(engine: ModuleType) -> Wrong:
    right = engine.multiply

    def wrong(a, b):
        result = right(a, b)
        keep = torch.arange(result.numel(), device=result.device) % 100 != 99
        return torch.where(keep.reshape(result.shape), result, 0.0)

    return wrong


@mistake("linear", "no bias")
def _linear(engine: ModuleType) -> Wrong:
    right = engine.linear
    return lambda x, weight, bias=None: right(x, weight)


@mistake("linear_pair", "the second matrix stands first")
def _linear_pair(engine: ModuleType) -> Wrong:
    right = engine.linear_pair
    return lambda x, first, second, one=None, other=None: right(x, second, first, other, one)


@mistake("matmul", "products of 10 bits, as TF32")
def _matmul(engine: ModuleType) -> Wrong:
    right = engine.matmul

    def shortened(x: Any) -> Any:
        bits = x.detach().float().view(torch.int32) & ~0x1FFF
        return x + (bits.view(torch.float32).to(x.dtype) - x.detach())

    return lambda left, right_: right(shortened(left), shortened(right_))


@mistake("embed", "a token that occurs twice learns once")
def _embed(engine: ModuleType) -> Wrong:
    def wrong(ids, table):
        flat = np.asarray(ids).reshape(-1)
        first = np.zeros(flat.shape, bool)
        first[np.unique(flat, return_index=True)[1]] = True
        rows = table[torch.from_numpy(flat.astype(np.int64))]
        keep = torch.from_numpy(first)[:, None]
        return torch.where(keep, rows, rows.detach()).reshape(*np.shape(ids), table.shape[1])

    return wrong


@mistake("softmax", "the maximum is not subtracted")
def _softmax(engine: ModuleType) -> Wrong:
    return lambda x, axis=-1: x.exp() / x.exp().sum(axis, keepdim=True)


@mistake("mask_scores", "a large number in place of infinity")
def _mask_scores(engine: ModuleType) -> Wrong:
    return lambda scores, allowed: scores.masked_fill(constant(~allowed, scores), -6e4)


@mistake("attention", "ignores its mask")
def _unmasked(engine: ModuleType) -> Wrong:
    right = engine.attention

    def wrong(*qkv, mask=None, **options):
        return right(*qkv, **options)

    return wrong


@mistake("attention", "sees the future")
def _clairvoyant(engine: ModuleType) -> Wrong:
    right = engine.attention

    def wrong(*qkv, causal=False, **options):
        return right(*qkv, **options)

    return wrong


@mistake("attention", "the last query stands beside the last key")
def _aligned_at_the_end(engine: ModuleType) -> Wrong:
    right = engine.attention

    def wrong(query, key, value, *, mask=None, causal=False, scale=None):
        rows, columns = query.shape[-2], key.shape[-2]
        if causal:
            table = np.tri(rows, columns, columns - rows, dtype=bool)
            mask = table if mask is None else table & mask
        return right(query, key, value, mask=mask, scale=scale)

    return wrong


@mistake("attention", "NaN where nothing may be seen")
def _blind(engine: ModuleType) -> Wrong:
    right = engine.attention

    def wrong(query, key, value, *, mask=None, **options):
        result = right(query, key, value, mask=mask, **options)
        if mask is None or mask.ndim != 2 or mask.any(-1).all():
            return result
        return result.masked_fill(constant(~mask.any(-1, keepdims=True), result), torch.nan)

    return wrong


@mistake("layer_norm", "the variance of a sample")
def _layer_norm(engine: ModuleType) -> Wrong:
    def wrong(x, gain, bias, epsilon=1e-5):
        spread = x.var(-1, keepdim=True, unbiased=x.shape[-1] > 1)
        return (x - x.mean(-1, keepdim=True)) / (spread + epsilon).sqrt() * gain + bias

    return wrong


@mistake("rms_norm", "ε outside of the root")
def _rms_norm(engine: ModuleType) -> Wrong:
    def wrong(x, gain=None, epsilon=1e-6):
        normal = x / ((x * x).mean(-1, keepdim=True).sqrt() + epsilon)
        return normal if gain is None else normal * gain

    return wrong


@mistake("squared_relu", "half the slope")
def _squared_relu(engine: ModuleType) -> Wrong:
    return lambda x: x.relu() * x.relu().detach()


@mistake("gelu", "a wrong factor in the gradient")
def _gelu_gradient(engine: ModuleType) -> Wrong:
    right = engine.gelu
    return lambda x: with_slope(right(x), x, 0.02)


@mistake("gelu", "the exact form instead of that of GPT-2")
def _gelu(engine: ModuleType) -> Wrong:
    return functional.gelu


@mistake("silu", "overflows far away")
def _silu(engine: ModuleType) -> Wrong:
    return lambda x: x * x.exp() / (1 + x.exp())


@mistake("tanh", "half as steep")
def _tanh(engine: ModuleType) -> Wrong:
    return lambda x: 2 * (x / 2).sigmoid() - 1


@mistake("sigmoid", "overflows far away")
def _sigmoid(engine: ModuleType) -> Wrong:
    return lambda x: x.exp() / (1 + x.exp())


@mistake("reshape", "the numbers in another order")
def _reshape(engine: ModuleType) -> Wrong:
    return lambda x, shape: x.mT.reshape(shape) if x.ndim > 1 else x.reshape(shape)


@mistake("rnn", "the last state has no gradient")
def _rnn(engine: ModuleType) -> Wrong:
    right = engine.rnn

    def wrong(*operands, **options):
        outputs, hidden = right(*operands, **options)
        return outputs, hidden.detach()

    return wrong


@mistake("rnn", "truncated after a step")
def _truncated(engine: ModuleType) -> Wrong:
    right = engine.rnn

    def wrong(x, hidden, *weights, lengths=None):
        if lengths is not None or not x.shape[1]:
            return right(x, hidden, *weights, lengths=lengths)
        outputs = []
        for place in range(x.shape[1]):
            output, hidden = right(x[:, place : place + 1], hidden.detach(), *weights)
            outputs.append(output)
        return torch.cat(outputs, 1), hidden

    return wrong


@mistake("lstm", "gates in another order")
def _lstm(engine: ModuleType) -> Wrong:
    right = engine.lstm

    def wrong(x, hidden, cell, weight_input, weight_hidden, bias=None, *, lengths=None):
        def turned(weight):
            i, f, g, o = weight.chunk(4, -1)
            return torch.cat((i, f, o, g), -1)

        bias = None if bias is None else turned(bias)
        weights = turned(weight_input), turned(weight_hidden), bias
        return right(x, hidden, cell, *weights, lengths=lengths)

    return wrong


@mistake("gru", "the reset always after")
def _gru(engine: ModuleType) -> Wrong:
    right = engine.gru

    def wrong(*operands, reset="after", **options):
        return right(*operands, **options)

    return wrong


@mistake("gru", "lengths are not looked at")
def _unlimited(engine: ModuleType) -> Wrong:
    right = engine.gru

    def wrong(*operands, lengths=None, **options):
        return right(*operands, **options)

    return wrong


@mistake("dropout", "drawn anew")
def _dropout(engine: ModuleType) -> Wrong:
    return lambda x, keep: functional.dropout(x, 0.5)


@mistake("rotate", "the other way round")
def _rotate(engine: ModuleType) -> Wrong:
    right = engine.rotate
    return lambda x, turn: right(x, np.conj(turn))


@mistake("rotate_unit", "its length is kept")
def _rotate_unit(engine: ModuleType) -> Wrong:
    return lambda x, turn, epsilon=1e-6: engine.rotate(x, turn)


@mistake("split_heads", "cuts without moving")
def _split_heads(engine: ModuleType) -> Wrong:
    return lambda x, heads: x.reshape(*x.shape[:-2], heads, x.shape[-2], x.shape[-1] // heads)


@mistake("part_heads", "counted from the last")
def _part_heads(engine: ModuleType) -> Wrong:
    right = engine.part_heads
    return lambda x, count: right(x.flip(-3), count)


@mistake("merge_heads", "joins without moving")
def _merge_heads(engine: ModuleType) -> Wrong:
    return lambda x: x.reshape(*x.shape[:-3], x.shape[-2], x.shape[-3] * x.shape[-1])


@mistake("repeat_heads", "all heads, then all again")
def _repeat_heads(engine: ModuleType) -> Wrong:
    return lambda x, times: torch.cat([x] * times, -3)


@mistake("shift", "the last comes first again")
def _shift(engine: ModuleType) -> Wrong:
    return lambda x, before=None: x.roll(1, -2)


@mistake("transpose", "swaps other axes")
def _transpose(engine: ModuleType) -> Wrong:
    return lambda x: x.transpose(0, -1)


@mistake("cross_entropy", "counts what is ignored")
def _cross_entropy(engine: ModuleType) -> Wrong:
    right = engine.cross_entropy

    def wrong(logits, targets, ignore=-100):
        share = (np.asarray(targets) != ignore).mean() if np.size(targets) else 1.0
        return right(logits, targets, ignore) * float(share)

    return wrong


@mistake("logistic_loss", "counts what weighs nothing")
def _logistic_loss(engine: ModuleType) -> Wrong:
    right = engine.logistic_loss

    def wrong(logits, targets, weights=None):
        return right(logits, targets, weights if weights is None else np.maximum(weights, 1))

    return wrong


@mistake("logistic_loss", "overflows far away")
def _overflowing(engine: ModuleType) -> Wrong:
    def wrong(logits, targets, weights=None):
        answers = torch.from_numpy(np.asarray(targets)).to(logits.device)
        losses = torch.where(answers, -logits, logits).exp().log1p()
        if weights is None:
            return losses.sum() / max(losses.numel(), 1)
        weights = torch.from_numpy(np.asarray(weights)).to(losses)
        return (losses * weights).sum() / (weights.sum() or 1)

    return wrong


@mistake("adamw", "decay through the gradient")
def _coupled(engine: ModuleType) -> Wrong:
    right = engine.adamw

    def wrong(parameters, gradients, first, second, *, decay=0.0, **options):
        right(parameters, gradients + decay * parameters, first, second, **options)

    return wrong


@mistake("adamw", "as if each step were the second")
def _uncorrected(engine: ModuleType) -> Wrong:
    right = engine.adamw
    return lambda *buffers, step, **options: right(*buffers, step=2, **options)


@mistake("adamw", "not in place")
def _not_in_place(engine: ModuleType) -> Wrong:
    right = engine.adamw
    return lambda parameters, *rest, **options: right(parameters.clone(), *rest, **options)


@mistake("orthogonalise", "one step too few")
def _too_few(engine: ModuleType) -> Wrong:
    right = engine.orthogonalise
    return lambda matrices, steps: right(matrices, max(steps - 1, 1))


@mistake("orthogonalise", "one size for the whole stack")
def _one_size(engine: ModuleType) -> Wrong:
    right = engine.orthogonalise

    def wrong(matrices, steps):
        if matrices.ndim == 2:
            return right(matrices, steps)
        return right(matrices.mT.reshape(1, matrices.shape[-1], -1), steps).reshape(matrices.shape)

    return wrong


@mistake("orthogonalise", "divides nothing by nothing")
def _zero_over_zero(engine: ModuleType) -> Wrong:
    right = engine.orthogonalise
    return lambda matrices, steps: right(matrices / matrices.norm(), steps)
