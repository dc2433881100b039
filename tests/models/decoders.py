"""Small decoders of every kind, all of whose weights are random: a zero would hide mistakes."""

from collections.abc import Iterator
from itertools import combinations, product
from math import sqrt
from typing import Any

import numpy as np
import pytest

from clearformer import ops
from clearformer.engines.tape import Tape
from clearformer.models.build import build_decoder
from clearformer.models.configuration import ModelConfiguration
from clearformer.models.decoder import Decoder
from clearformer.models.embedding import ScaledEmbedding

SIZES: dict[str, Any] = {
    "vocabulary": 11,
    "layers": 2,
    "heads": 4,
    "embed": 16,
    "context": 8,
    "hidden": 12,
}

CHOICES: dict[str, tuple[Any, ...]] = {
    "recipe": ("modern", "classic"),
    "positions": ("rotary", "sinusoidal"),
    "norm": ("rms", "layer"),
    "activation": ("squared_relu", "gelu", "swiglu"),
    "query_key_norm": (True, False),
    "token_shift": (True, False),
    "bias": (False, True),
    "tied": (False, True),
    "key_value_heads": (4, 2, 1),
}


def every_combination() -> list[dict[str, Any]]:
    """All 1,152 of them."""
    return [dict(zip(CHOICES, values, strict=True)) for values in product(*CHOICES.values())]


def _pairs(choice: dict[str, Any]) -> set[Any]:
    return set(combinations(choice.items(), 2))


def _few_with_every_pair() -> Iterator[dict[str, Any]]:
    """So few that each two choices still meet: most mistakes need no more than two."""
    pairs = [(choice, _pairs(choice)) for choice in every_combination()]
    missing = set().union(*(each for _, each in pairs))
    while missing:
        choice, met = max(pairs, key=lambda pair: len(pair[1] & missing))
        missing -= met
        yield choice


def _name(choice: dict[str, Any]) -> str:
    words = (f"{name}={v}" if isinstance(v, int) else v for name, v in choice.items())
    return " ".join(words)


VARIANTS: dict[str, ModelConfiguration] = {
    "the modern recipe": ModelConfiguration(**SIZES, recipe="modern"),
    "the classic recipe": ModelConfiguration(**SIZES, recipe="classic"),
} | {_name(choice): ModelConfiguration(**SIZES, **choice) for choice in _few_with_every_pair()}
VARIANTS["a modern one from before scores had a size of their own"] = ModelConfiguration(
    **SIZES, recipe="modern", largest_score=None
)

every_variant = pytest.mark.parametrize("configuration", VARIANTS.values(), ids=VARIANTS)
both_recipes = pytest.mark.parametrize("recipe", CHOICES["recipe"])


def random_decoder(
    configuration: ModelConfiguration, dtype: Any = np.float64, seed: int = 0
) -> Decoder:
    """A decoder in which no parameter is at its resting place."""
    rng = np.random.default_rng(seed)
    model = build_decoder(configuration, None, dtype)
    stretched = isinstance(model.embedding, ScaledEmbedding)

    def drawn(name: str, parameter: np.ndarray) -> np.ndarray:
        numbers = rng.normal(size=parameter.shape)
        if name == "embedding.table":  # a short vector, and its roundings, the norm would stretch
            numbers /= sqrt(parameter.shape[1]) if stretched else 1
        elif parameter.ndim == 2:
            numbers /= sqrt(len(parameter))
        else:
            numbers = 0.3 * numbers + name.endswith("gain")
        return numbers.astype(dtype)

    return model.with_parameters(drawn)


def random_ids(configuration: ModelConfiguration, *shape: int, seed: int = 1) -> np.ndarray:
    """Tokens of the vocabulary."""
    return np.random.default_rng(seed).integers(configuration.vocabulary, size=shape)


def loss_and_gradients(
    model: Decoder, ids: np.ndarray, targets: np.ndarray, **options: Any
) -> tuple[float, dict[str, np.ndarray]]:
    """The mean loss of the targets, and its gradient for each parameter."""
    tape = Tape()
    recorded = model.with_parameters(lambda _, parameter: tape.watch(parameter))
    loss: Any = ops.cross_entropy(recorded(ids, **options), targets)
    tape.backward(loss)
    leaves = recorded.parameters()
    return float(loss), {name: tape.gradient(leaf) for name, leaf in leaves.items()}
