"""Rearranges a decoder for fast decoding; nothing is computed that the decoder does not compute."""

from collections.abc import Callable
from math import sqrt
from typing import Any

import numpy as np

from clearformer import ops
from clearformer.engines.dispatch import engine_of
from clearformer.engines.plan import Folded, LayerPlan, Plan
from clearformer.models.attention import Attention
from clearformer.models.block import Block
from clearformer.models.decoder import Decoder
from clearformer.models.embedding import Embedding, ScaledEmbedding, TiedOutput, UntiedOutput
from clearformer.models.feed_forward import FeedForward, GatedFeedForward
from clearformer.models.linear import Linear, Unchanged
from clearformer.models.norms import LayerNorm, RMSNorm, UnitRMSNorm
from clearformer.models.positions import (
    NothingAdded,
    RotaryPositions,
    SinusoidalPositions,
    rotary_turns,
    sinusoidal_positions,
)
from clearformer.models.token_shift import NothingShifted, TokenShift

LAYER_NORM_EPSILON, RMS_NORM_EPSILON = 1e-5, 1e-6  # the defaults of the operations


def plan_of(model: Any) -> Plan | None:
    """The plan of a decoder in NumPy arrays; None for a model that the fast path does not know."""
    if not _is_known(model):
        return None
    table = model.embedding.table
    first = model.blocks[0].attention
    embed = table.shape[1]
    width = embed // first.heads
    complex_type = np.complex128 if table.dtype == np.float64 else np.complex64
    positions, turning = model.positions, first.positions
    scale = sqrt(embed) if isinstance(model.embedding, ScaledEmbedding) else 1.0
    if isinstance(model.output, TiedOutput):
        output = Linear(np.ascontiguousarray(table.T))
    else:
        output = model.output.linear
    return Plan(
        embedding=table if scale == 1 else table * table.dtype.type(scale),
        shift=getattr(model.shift, "share", None),
        positions=sinusoidal_positions(positions.length, embed, str(table.dtype))
        if isinstance(positions, SinusoidalPositions)
        else None,
        turns=rotary_turns(turning.length, width).astype(complex_type)
        if isinstance(turning, RotaryPositions)
        else None,
        scale=1 / sqrt(width) if first.scale is None else first.scale,
        norm_epsilon=RMS_NORM_EPSILON if isinstance(first.norm, UnitRMSNorm) else None,
        heads=first.heads,
        key_value_heads=first.key_value_heads,
        layers=tuple(_layer(block) for block in model.blocks),
        logits=_folded(model.norm, output),
    )


def is_compiled(model: Any, tokens: int) -> bool:
    """Whether a compiled kernel makes the tokens: it can, it is there, and there are enough."""
    if not _is_known(model) or not _is_even(model):
        return False
    parameters = model.parameters().values()
    numbers = sum(each.size for each in parameters) - model.embedding.table.size
    if isinstance(model.output, TiedOutput):
        numbers += model.embedding.table.size
    engine = engine_of(model.embedding.table)
    seconds = tokens * engine.plain_seconds(len(model.blocks), numbers)
    compiled: bool = engine.is_compiled(seconds * (SPARED if numbers >= FAR_OFF else 1))
    return compiled


FAR_OFF, SPARED = 20_000_000, 1 / 3
"""Weights that no cache holds: how quickly they are read hardly depends on who reads them. A kernel
spares a sixth of the time then, in place of half of it, so it must be three times as much."""


def _is_even(model: Any) -> bool:
    """Whether all blocks have the same sizes, norms and activation, one the kernels know."""
    first = model.blocks[0]
    if getattr(first.feed_forward, "activation", ops.silu) not in _NAMES:
        return False
    return all(_build(block) == _build(first) for block in model.blocks)


def _build(block: Block) -> tuple[Any, ...]:
    shapes = {name: each.shape for name, each in block.parameters().items()}
    activation = getattr(block.feed_forward, "activation", None)
    return shapes, type(block.norm_1), type(block.norm_2), type(block.feed_forward), activation


def _is_known(model: Any) -> bool:
    """Whether each part is exactly one of ours: a kind of it may do something else when called."""
    if type(model) is not Decoder or not model.blocks:
        return False
    ours = (
        type(model.embedding) in (Embedding, ScaledEmbedding)
        and type(model.shift) in (TokenShift, NothingShifted)
        and type(model.positions) in (SinusoidalPositions, NothingAdded)
        and type(model.norm) in _NORMS
        and _is_known_output(model.output)
        and isinstance(model.embedding.table, np.ndarray)
    )
    return ours and all(_is_like(block, model.blocks[0]) for block in model.blocks)


_NORMS = (LayerNorm, RMSNorm, Unchanged)
_NAMES: dict[Any, str] = {
    ops.gelu: "gelu",
    ops.squared_relu: "squared_relu",
    ops.silu: "silu",
}


def _is_known_output(part: Any) -> bool:
    return type(part) is TiedOutput or (type(part) is UntiedOutput and type(part.linear) is Linear)


def _is_like(block: Any, first: Any) -> bool:
    if type(block) is not Block or type(block.attention) is not Attention:
        return False
    attention, usual = block.attention, first.attention
    reading: Any = (attention.query, attention.key, attention.value)
    return (
        all(type(each) is Linear for each in (*reading, attention.output))
        and len({each.bias is None for each in reading}) == 1  # they become one matrix
        and type(block.norm_1) in _NORMS
        and type(block.norm_2) in _NORMS
        and _is_known_feed_forward(block.feed_forward)
        and type(attention.norm) in (UnitRMSNorm, Unchanged)
        and type(attention.positions) in (RotaryPositions, Unchanged)
        and type(attention.norm) is type(usual.norm)
        and attention.positions == usual.positions
        and (attention.heads, attention.key_value_heads, attention.causal, attention.scale)
        == (usual.heads, usual.key_value_heads, True, usual.scale)
    )


def _is_known_feed_forward(part: Any) -> bool:
    if type(part) not in (FeedForward, GatedFeedForward):
        return False
    gates = (part.gate,) if isinstance(part, GatedFeedForward) else ()
    return all(type(each) is Linear for each in (part.expand, part.project, *gates))


def _layer(block: Block) -> LayerPlan:
    attention, feed_forward = block.attention, block.feed_forward
    gate: Folded | None = None
    activation: Callable[[Any], Any] = ops.silu
    if isinstance(feed_forward, GatedFeedForward):
        gate = _folded(block.norm_2, feed_forward.gate)
    else:
        activation = feed_forward.activation
    return LayerPlan(
        query_key_value=_folded(
            block.norm_1, _side_by_side(attention.query, attention.key, attention.value)
        ),
        output=_folded(None, attention.output),
        expand=_folded(block.norm_2, feed_forward.expand),
        gate=gate,
        project=_folded(None, feed_forward.project),
        activation=activation,
        activation_name=_NAMES.get(activation),
    )


def _side_by_side(*layers: Any) -> Linear:
    matrix = np.concatenate([layer.weight for layer in layers], axis=1)
    if layers[0].bias is None:
        return Linear(matrix)
    return Linear(matrix, np.concatenate([layer.bias for layer in layers]))


def _folded(norm: Any, linear: Any) -> Folded:
    """The linear layer with the norm before it."""
    matrix, bias = linear.weight, linear.bias
    if not isinstance(norm, RMSNorm | LayerNorm):
        return Folded(matrix, bias, False, None)
    centre, epsilon = isinstance(norm, LayerNorm), RMS_NORM_EPSILON
    if isinstance(norm, LayerNorm):
        shift, epsilon = norm.bias @ matrix, LAYER_NORM_EPSILON
        bias = shift if bias is None else shift + bias
    gain = np.asarray(norm.gain)
    if matrix.size >= LARGE:
        return Folded(matrix, bias, centre, epsilon, gain)
    return Folded(gain[:, None] * matrix, bias, centre, epsilon)


LARGE = 1_000_000
"""Numbers of a matrix that is not copied for a gain: to multiply each vector by it takes less than
to fetch fresh memory for all matrices of a large model, which took a second before its first token.
"""
