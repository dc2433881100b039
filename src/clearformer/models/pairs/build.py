"""Builds models on pairs from their configurations, with fresh random weights."""

from math import sqrt
from typing import Any

import numpy as np

from clearformer.models.attention import Attention
from clearformer.models.block import Block
from clearformer.models.build import build_decoder
from clearformer.models.dropout import Dropout
from clearformer.models.embedding import Embedding, UntiedOutput
from clearformer.models.linear import Linear, Unchanged
from clearformer.models.pairs.alignment import AdditiveAttention, Alignment, DotAttention
from clearformer.models.pairs.configuration import (
    EncoderDecoderConfiguration,
    Seq2SeqConfiguration,
)
from clearformer.models.pairs.cross_block import CrossAttention, CrossBlock
from clearformer.models.pairs.encoder_decoder import EncoderDecoder, SourceEncoder, TargetDecoder
from clearformer.models.pairs.recurrent_encoder import RecurrentEncoder
from clearformer.models.pairs.seq2seq import RecurrentDecoder, Seq2Seq
from clearformer.models.recurrent.build import build_recurrent
from clearformer.models.recurrent.layers import RecurrentLayer

Rng = np.random.Generator | None


def build_seq2seq(
    configuration: Seq2SeqConfiguration, rng: Rng, dtype: Any = np.float32
) -> Seq2Seq:
    """A recurrent encoder–decoder with fresh weights, the same for the same generator.

    Layers are drawn as in `build_recurrent`; all is zero without a generator.
    """
    c = configuration

    def layers() -> tuple[RecurrentLayer, ...]:
        return build_recurrent(c.side, rng, dtype).layers

    return Seq2Seq(
        embedding=Embedding(_normal(rng, dtype, c.tokens, c.embed, 1.0)),
        encoder=RecurrentEncoder(layers(), layers() if c.bidirectional else (), Dropout(c.dropout)),
        decoder=RecurrentDecoder(layers(), _alignment(c, rng, dtype), Dropout(c.dropout)),
        output=UntiedOutput(Linear(_normal(rng, dtype, c.width, c.tokens, 1 / sqrt(c.width)))),
    )


def _alignment(c: Seq2SeqConfiguration, rng: Rng, dtype: Any) -> Alignment:
    def matrix(outputs: int = c.width, share: float = 1.0) -> Linear:
        return Linear(_normal(rng, dtype, c.width, outputs, sqrt(share / c.width)))

    if c.attention == "none":
        return Unchanged()
    halves = matrix(share=0.5), matrix(share=0.5)  # of one matrix that reads both
    if c.attention == "dot":
        return DotAttention(*halves)
    return AdditiveAttention(matrix(), matrix(), matrix(1), *halves)


def build_encoder_decoder(
    configuration: EncoderDecoderConfiguration, rng: Rng, dtype: Any = np.float32
) -> EncoderDecoder:
    """A Transformer with fresh weights, the same for the same generator; all zero without one.

    Both stacks are built as that of a decoder, see `build_decoder`; so is cross-attention.
    """
    side = configuration.side
    reading, writing, looking = (build_decoder(side, rng, dtype) for _ in range(3))
    crossed = tuple(map(_cross_block, writing.blocks, looking.blocks))
    seeing = tuple(block.looking_both_ways() for block in reading.blocks)
    return EncoderDecoder(
        embedding=writing.embedding,
        encoder=SourceEncoder(reading.positions, seeing, reading.norm, reading.dropout),
        decoder=TargetDecoder(writing.positions, crossed, writing.norm, writing.dropout),
        output=writing.output,
    )


def _cross_block(block: Block, other: Block) -> CrossBlock:
    return CrossBlock(
        norm_1=block.norm_1,
        attention=block.attention,
        norm_cross=other.norm_1,
        cross=_cross(other.attention),
        norm_2=block.norm_2,
        feed_forward=block.feed_forward,
        dropout=block.dropout,
    )


def _cross(a: Attention) -> CrossAttention:
    return CrossAttention(a.query, a.key, a.value, a.output, a.norm, a.positions, a.heads, a.scale)


def _normal(rng: Rng, dtype: Any, rows: int, columns: int, spread: float) -> np.ndarray:
    if rng is None:
        return np.zeros((rows, columns), dtype)
    drawn = rng.standard_normal((rows, columns), np.float32) * np.float32(spread)
    return drawn.astype(dtype, copy=False)
