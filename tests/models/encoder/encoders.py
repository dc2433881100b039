"""Small encoders of every kind, all of whose weights are random."""

from dataclasses import fields
from typing import Any

import numpy as np
import pytest

from clearformer.models.encoder.build import build_encoder
from clearformer.models.encoder.configuration import EncoderConfiguration
from clearformer.models.encoder.model import Encoder
from models import decoders


def _like(decoder: Any) -> EncoderConfiguration:
    return EncoderConfiguration(**{f.name: getattr(decoder, f.name) for f in fields(decoder)})


VARIANTS = {name: _like(variant) for name, variant in decoders.VARIANTS.items()}

every_variant = pytest.mark.parametrize("configuration", VARIANTS.values(), ids=VARIANTS)

MODERN = VARIANTS["the modern recipe"]


def random_encoder(configuration: EncoderConfiguration, dtype: Any = np.float64) -> Encoder:
    """An encoder in which no parameter is at its resting place."""
    rng = np.random.default_rng(0)

    def drawn(name: str, parameter: np.ndarray) -> np.ndarray:
        numbers = rng.normal(size=parameter.shape)
        if parameter.ndim == 2:
            numbers /= np.sqrt(len(parameter))
        else:
            numbers = 0.3 * numbers + name.endswith("gain")
        return numbers.astype(dtype)

    return build_encoder(configuration, None, dtype).with_parameters(drawn)


def random_ids(configuration: EncoderConfiguration, *shape: int, seed: int = 1) -> np.ndarray:
    """Tokens of the vocabulary, and masks."""
    return np.random.default_rng(seed).integers(configuration.mask + 1, size=shape)
