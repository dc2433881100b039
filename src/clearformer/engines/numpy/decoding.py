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
    return PlainDecoder(plan, cache)


def plain_seconds(layers: int, numbers: int) -> float:
    """About how long the plain way takes for a token, on a laptop, whatever is busy beside it."""
    return layers * A_LAYER + numbers * A_NUMBER


A_LAYER = 40e-6
"""Seconds for the calls of one block."""
A_NUMBER = 2e-10
"""Seconds to read a weight: 4 bytes at 20 GB/s."""


class PlainDecoder:
    """Carries a plan out with one row of numbers; all arrays but the smallest are made once."""

    def __init__(self, plan: Plan, cache: Any):
        self._plan, self._cache = plan, cache
        heads, shared, kind = plan.heads, plan.key_value_heads, plan.embedding.dtype
        width = plan.layers[0].query_key_value.matrix.shape[1] // (heads + 2 * shared)
        rows = np.empty((heads + 2 * shared, width), kind)
        self._row, self._turned = rows.reshape(-1), rows[: heads + shared]
        self._queries = rows[:heads].reshape(shared, heads // shared, width)
        self._new = rows[heads:].reshape(2, shared, width)
        if plan.turns is not None:
            self._pairs = self._turned.view(plan.turns.dtype)
        self._mixed, self._added = np.empty_like(self._queries), np.empty_like(plan.embedding[0])
        self._logits = np.empty(plan.logits.matrix.shape[1], kind)
        shape = (len(plan.layers), 2, shared, cache.context, width)
        self._held = np.empty(shape, kind)  # keys and values, which so are written in one go
        for layer, (keys, values) in zip(cache.layers, self._held, strict=True):
            layer.hold(keys[None], values[None])

    def __call__(self, token: int) -> np.ndarray:
        """The logits (vocab,) of what follows `token`, which is added to the cache."""
        plan, at = self._plan, self._cache.length
        row = plan.embedding[token]
        x = row.copy()
        if plan.shift is not None:
            if at:
                x += plan.shift * self._cache.newest[0, 0]
            self._cache.newest = row[None, None]
        if plan.positions is not None:
            x += plan.positions[at]
        for layer, held in zip(plan.layers, self._held, strict=True):
            x += _through(layer.output, self._attention(layer, x, held, at), self._added)
            hidden = _through(layer.gate or layer.expand, x)
            hidden = _bent(layer, hidden)
            if layer.gate is not None:
                hidden *= _through(layer.expand, x)
            x += _through(layer.project, hidden, self._added)
        self._cache.advance()
        return _through(plan.logits, x, self._logits)

    def _attention(self, layer: LayerPlan, x: np.ndarray, held: np.ndarray, at: int) -> np.ndarray:
        plan, turned, queries = self._plan, self._turned, self._queries
        _through(layer.query_key_value, x, self._row)
        if plan.norm_epsilon is not None:
            size = np.vecdot(turned, turned)
            size /= turned.shape[1]
            size += plan.norm_epsilon
            np.sqrt(size, out=size)
            turned /= size[:, None]
        if plan.turns is not None:
            self._pairs *= plan.turns[at]
        held[:, :, at] = self._new
        queries *= plan.scale
        scores = queries @ held[0, :, : at + 1].swapaxes(-1, -2)
        if plan.norm_epsilon is None:  # else no score exceeds scale · width: exp cannot overflow
            scores -= np.maximum.reduce(scores, -1, keepdims=True)
        np.exp(scores, out=scores)
        mixed = np.matmul(scores, held[1, :, : at + 1], out=self._mixed)
        mixed /= np.add.reduce(scores, -1, keepdims=True)
        return mixed.reshape(-1)


def _bent(layer: LayerPlan, hidden: np.ndarray) -> np.ndarray:
    """The activation; the commonest in place, for it takes so little that the call counts."""
    if layer.activation_name != "squared_relu":
        bent: np.ndarray = layer.activation(hidden)
        return bent
    np.maximum(hidden, 0, out=hidden)
    hidden *= hidden
    return hidden


def _through(folded: Folded, x: np.ndarray, result: np.ndarray | None = None) -> np.ndarray:
    """One row (embed,) through norm and matrix: (output,), written to `result` if there is one."""
    if folded.centre:
        x = x - np.add.reduce(x) / len(x)
    row = x if folded.gain is None else x * folded.gain
    found: np.ndarray = np.dot(row, folded.matrix, out=result)
    if folded.epsilon is not None:
        found *= 1 / sqrt(float(np.dot(x, x)) / len(x) + folded.epsilon)
    if folded.bias is not None:
        found += folded.bias
    return found
