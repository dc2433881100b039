"""One more token, as few and as large NumPy calls as possible: the fast path of generation."""

from collections.abc import Callable
from math import sqrt
from typing import Any

import numpy as np

from clearformer.engines.plan import Folded, LayerPlan, Plan

Decode = Callable[[int], np.ndarray]
"""From a token, which is added to the key–value cache, to the logits (vocab,) of what follows it.

They stand until the next call: it may write into the same array."""


def decoder(plan: Plan, cache: Any, compiled: bool = False) -> Decode:
    """What makes one token after another, in plain NumPy or by a compiled kernel.

    Both give the same logits but for rounding. The keys and values of a prompt are written to the
    cache by the model itself, in between as well; `compiled` needs numba (see `is_compiled`).
    """
    if compiled:
        from clearformer.engines.numpy.compiled.decoding import CompiledDecoder

        return CompiledDecoder(plan, cache)
    return lambda token: decode(plan, token, cache)


def plain_seconds(layers: int, numbers: int) -> float:
    """About how long the plain way takes for a token, on a laptop, whatever is busy beside it."""
    return layers * A_LAYER + numbers * A_NUMBER


A_LAYER = 40e-6
"""Seconds for the calls of one block."""
A_NUMBER = 2e-10
"""Seconds to read a weight: 4 bytes at 20 GB/s."""


def decode(plan: Plan, token: int, cache: Any) -> np.ndarray:
    """The logits (vocab,) of what follows `token`, which is added to the key–value cache."""
    at = cache.length
    x = plan.embedding[token].copy()
    if plan.positions is not None:
        x += plan.positions[at]
    turn = None if plan.turns is None else plan.turns[at]
    for layer, held in zip(plan.layers, cache.layers, strict=True):
        x += _through(layer.output, _attention(plan, layer, x, held, turn))
        hidden = layer.activation(_through(layer.gate or layer.expand, x))
        if layer.gate is not None:
            hidden *= _through(layer.expand, x)
        x += _through(layer.project, hidden)
    return _through(plan.logits, x)


def _attention(
    plan: Plan, layer: LayerPlan, x: np.ndarray, held: Any, turn: np.ndarray | None
) -> np.ndarray:
    heads, shared = plan.heads, plan.key_value_heads
    rows = _through(layer.query_key_value, x).reshape(heads + 2 * shared, -1)
    width = rows.shape[1]
    turned = rows[: heads + shared]
    if plan.norm_epsilon is not None:
        size = np.vecdot(turned, turned)
        size /= width
        size += plan.norm_epsilon
        np.sqrt(size, out=size)
        turned /= size[:, None]
    if turn is not None:
        pairs = turned.view(turn.dtype)
        pairs *= turn
    keys, values = held.extend(turned[None, heads:, None], rows[None, heads + shared :, None])
    queries = turned[:heads].reshape(shared, heads // shared, width)
    scores = queries @ keys[0].swapaxes(-1, -2)
    scores *= plan.scale
    if plan.norm_epsilon is None:  # else no score exceeds scale · width: exp cannot overflow
        scores -= scores.max(-1, keepdims=True)
    np.exp(scores, out=scores)
    mixed: np.ndarray = scores @ values[0]
    mixed /= np.add.reduce(scores, -1, keepdims=True)
    return mixed.reshape(-1)


def _through(folded: Folded, x: np.ndarray) -> np.ndarray:
    """One row (embed,) through norm and matrix: (output,)."""
    if folded.centre:
        x = x - np.add.reduce(x) / len(x)
    result: np.ndarray = np.dot(x, folded.matrix)
    if folded.epsilon is not None:
        result *= 1 / sqrt(float(np.dot(x, x)) / len(x) + folded.epsilon)
    if folded.bias is not None:
        result += folded.bias
    return result
