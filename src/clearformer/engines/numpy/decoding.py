"""One more token, as few and as large NumPy calls as possible: the fast path of generation.

A plan holds a decoder's numbers rearranged: each norm is folded into the matrix behind it, and
query, key and value are one matrix, so that each weight is read once and little is called between.
`generation.plan` makes a plan of a decoder; a test holds both equal.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Folded:
    """norm(x) W + b, with the norm's gain and bias folded in: (x - mean) / size · matrix + bias."""

    matrix: np.ndarray
    bias: np.ndarray | None
    centre: bool
    """Whether the mean is taken away first (LayerNorm)."""
    epsilon: float | None
    """None where there is no norm."""

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """One row (embed,) → one row (output,)."""
        if self.centre:
            x = x - np.add.reduce(x) / len(x)
        result: np.ndarray = np.dot(x, self.matrix)
        if self.epsilon is not None:
            result *= 1 / sqrt(float(np.dot(x, x)) / len(x) + self.epsilon)
        if self.bias is not None:
            result += self.bias
        return result


@dataclass(frozen=True)
class LayerPlan:
    """The numbers of one block."""

    query_key_value: Folded
    output: Folded
    expand: Folded
    gate: Folded | None
    project: Folded
    activation: Callable[[Any], Any]


@dataclass(frozen=True)
class Plan:
    """The numbers of a decoder, arranged for decoding."""

    embedding: np.ndarray
    """(vocab, embed), whatever scales it included."""
    positions: np.ndarray | None
    """(context, embed), added; None if queries and keys are turned."""
    turns: np.ndarray | None
    """(context, width/2) complex."""
    norm_epsilon: float | None
    """Of the norm of queries and keys; None without."""
    heads: int
    key_value_heads: int
    layers: tuple[LayerPlan, ...]
    logits: Folded


def decode(plan: Plan, token: int, cache: Any) -> np.ndarray:
    """The logits (vocab,) of what follows `token`, which is added to the key–value cache."""
    at = cache.length
    x = plan.embedding[token].copy()
    if plan.positions is not None:
        x += plan.positions[at]
    turn = None if plan.turns is None else plan.turns[at]
    for layer, held in zip(plan.layers, cache.layers, strict=True):
        x += layer.output(_attention(plan, layer, x, held, turn))
        hidden = layer.activation(layer.expand(x) if layer.gate is None else layer.gate(x))
        if layer.gate is not None:
            hidden *= layer.expand(x)
        x += layer.project(hidden)
    return plan.logits(x)


def _attention(
    plan: Plan, layer: LayerPlan, x: np.ndarray, held: Any, turn: np.ndarray | None
) -> np.ndarray:
    heads, shared = plan.heads, plan.key_value_heads
    rows = layer.query_key_value(x).reshape(heads + 2 * shared, -1)
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
    scores *= 1 / sqrt(width)
    if plan.norm_epsilon is None:  # else no score exceeds √width, and exp cannot overflow
        scores -= scores.max(-1, keepdims=True)
    np.exp(scores, out=scores)
    mixed: np.ndarray = scores @ values[0]
    mixed /= np.add.reduce(scores, -1, keepdims=True)
    return mixed.reshape(-1)
