"""The model that is verified as a whole: tiny, with every kind of part, and all of it random."""

from math import sqrt
from typing import Any

import numpy as np

from clearformer.models.build import build_decoder
from clearformer.models.configuration import ModelConfiguration, Recipe
from clearformer.models.decoder import Decoder
from clearformer.models.embedding import ScaledEmbedding

RECIPES: tuple[Recipe, ...] = ("modern", "classic")

BATCH = 4
"""Sequences, each as long as the context."""


def configuration_of(recipe: Recipe) -> ModelConfiguration:
    """Several layers and heads; in the modern one heads share keys and values."""
    return ModelConfiguration(
        vocabulary=50,
        layers=2,
        heads=4,
        embed=32,
        context=16,
        key_value_heads=2 if recipe == "modern" else None,
        recipe=recipe,
    )


def random_decoder(recipe: Recipe, dtype: Any = np.float64) -> Decoder:
    """A decoder in which no parameter is at its resting place: a zero would hide mistakes.

    A vector of the embedding is as long as where training begins: the norm behind it would stretch
    a short one, and with it every rounding.
    """
    rng = np.random.default_rng(0)
    model = build_decoder(configuration_of(recipe), None, dtype)
    stretched = isinstance(model.embedding, ScaledEmbedding)

    def drawn(name: str, parameter: np.ndarray) -> np.ndarray:
        numbers = rng.normal(size=parameter.shape)
        if name == "embedding.table":
            numbers /= sqrt(parameter.shape[1]) if stretched else 1
        elif parameter.ndim == 2:
            numbers /= sqrt(len(parameter))
        else:
            numbers = 0.3 * numbers + name.endswith("gain")
        return numbers.astype(dtype)

    return model.with_parameters(drawn)


def random_batch(recipe: Recipe, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Tokens, and those that follow them."""
    c = configuration_of(recipe)
    ids = np.random.default_rng(seed).integers(c.vocabulary, size=(BATCH, c.context + 1))
    return ids[:, :-1], ids[:, 1:]
