"""Builds an encoder from its configuration, with fresh random weights."""

from typing import Any

import numpy as np

from clearformer.models.build import build_decoder
from clearformer.models.embedding import TiedOutput, TiedOutputWithoutMask, UntiedOutput
from clearformer.models.encoder.configuration import EncoderConfiguration
from clearformer.models.encoder.model import Encoder
from clearformer.models.linear import Linear


def build_encoder(
    configuration: EncoderConfiguration, rng: np.random.Generator | None, dtype: Any = np.float32
) -> Encoder:
    """An encoder with fresh weights, the same for the same generator; all zero without one.

    They are drawn as those of a decoder, see `build_decoder`; attention looks both ways.
    """
    drawn = build_decoder(configuration.stack, rng, dtype)
    return Encoder(
        embedding=drawn.embedding,
        shift=drawn.shift,
        positions=drawn.positions,
        blocks=tuple(block.looking_both_ways() for block in drawn.blocks),
        norm=drawn.norm,
        output=_of_vocabulary(drawn.output, configuration.vocabulary),
        dropout=drawn.dropout,
    )


def _of_vocabulary(output: Any, vocabulary: int) -> UntiedOutput | TiedOutputWithoutMask:
    """The same without the score of the mask."""
    if isinstance(output, TiedOutput):
        return TiedOutputWithoutMask(vocabulary)
    return UntiedOutput(Linear(np.ascontiguousarray(output.linear.weight[:, :vocabulary])))
