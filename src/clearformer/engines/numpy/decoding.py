"""One more token, as few and as large NumPy calls as possible: the fast path of generation."""

from math import sqrt
from typing import Any

import numpy as np

from clearformer.engines.plan import Folded, LayerPlan, Plan


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
