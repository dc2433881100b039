"""Small recurrent models of every kind, all of whose weights are random."""

from typing import Any

import numpy as np
import pytest

from clearformer.models.kinds import KINDS, build
from clearformer.models.recurrent.configuration import RecurrentConfiguration
from clearformer.models.recurrent.model import RecurrentModel

SIZES: dict[str, Any] = {"vocabulary": 11, "layers": 2, "embed": 6, "hidden": 5, "context": 8}

VARIANTS: dict[str, RecurrentConfiguration] = {
    f"{kind} {' '.join(map(str, choice.values()))}": KINDS[kind].configuration(**SIZES, **choice)
    for kind, choices in {
        "rnn": ({}, {"tied": True}),
        "lstm": ({}, {"tied": True}),
        "gru": ({}, {"reset": "before"}, {"tied": True}),
    }.items()
    for choice in choices
}

every_variant = pytest.mark.parametrize("configuration", VARIANTS.values(), ids=VARIANTS)

KINDS_HERE = ("rnn", "lstm", "gru")

every_kind = pytest.mark.parametrize("kind", KINDS_HERE)


def random_model(
    configuration: RecurrentConfiguration, dtype: Any = np.float64, seed: int = 0
) -> RecurrentModel:
    """No parameter is zero: a zero would hide mistakes."""
    rng = np.random.default_rng(seed)
    model = build(configuration, None, dtype)
    return model.with_parameters(lambda _, x: (rng.normal(size=x.shape) / 2).astype(dtype))


def random_ids(*shape: int, seed: int = 1) -> np.ndarray:
    """Tokens of the vocabulary."""
    return np.random.default_rng(seed).integers(SIZES["vocabulary"], size=shape)
