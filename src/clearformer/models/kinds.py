"""The kinds of model there are. A new one needs a line here, and one in `training.objectives`."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from clearformer.errors import ConfigurationError
from clearformer.models.build import build_decoder
from clearformer.models.configuration import BRIEF, CHOICES, RECIPES, SIZES, ModelConfiguration
from clearformer.models.encoder.build import build_encoder
from clearformer.models.encoder.configuration import EncoderConfiguration
from clearformer.models.kind import Configuration, Kind
from clearformer.models.pairs import sizes as pairs
from clearformer.models.pairs.build import build_encoder_decoder, build_seq2seq
from clearformer.models.pairs.configuration import (
    ALIGNMENTS,
    CELLS,
    EncoderDecoderConfiguration,
    Seq2SeqConfiguration,
)
from clearformer.models.part import Part
from clearformer.models.recurrent import sizes as recurrent
from clearformer.models.recurrent.build import build_recurrent
from clearformer.models.recurrent.configuration import (
    RESETS,
    GRUConfiguration,
    LSTMConfiguration,
    RNNConfiguration,
)

KINDS: Mapping[str, Kind] = {
    kind.name: kind
    for kind in (
        Kind(ModelConfiguration, build_decoder, SIZES, CHOICES, brief=BRIEF),
        Kind(EncoderConfiguration, build_encoder, SIZES, CHOICES, fills=True),
        Kind(RNNConfiguration, build_recurrent, recurrent.SIZES, {}),
        Kind(LSTMConfiguration, build_recurrent, recurrent.SIZES, {}),
        Kind(GRUConfiguration, build_recurrent, recurrent.SIZES, {"reset": RESETS}),
        Kind(
            Seq2SeqConfiguration,
            build_seq2seq,
            pairs.SEQ2SEQ,
            {"cell": tuple(CELLS), "attention": ALIGNMENTS},
            reads="pairs",
        ),
        Kind(
            EncoderDecoderConfiguration,
            build_encoder_decoder,
            pairs.ENCODER_DECODER,
            {"recipe": tuple(RECIPES)},
            reads="pairs",
        ),
    )
}
"""By name, the one that is taken unless another is named first."""

DEFAULT = next(iter(KINDS))


def kind_named(name: object) -> Kind:
    """The kind of that name.

    Raises:
        ConfigurationError: with those there are.
    """
    if not isinstance(name, str) or name not in KINDS:
        raise ConfigurationError(f"model must be one of {', '.join(KINDS)}; got {name!r}")
    return KINDS[name]


def build(
    configuration: Configuration, rng: np.random.Generator | None, dtype: Any = np.float32
) -> Part:
    """A model of any kind with fresh weights; all zero without a generator."""
    return KINDS[configuration.kind].build(configuration, rng, dtype)
