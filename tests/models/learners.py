"""Learners of small decoders with random weights, on either engine."""

from typing import Any

import numpy as np
import pytest

from clearformer.engines import choose
from clearformer.engines.execution import Execution
from clearformer.models.configuration import ModelConfiguration
from clearformer.training.next_token import next_token_loss
from engines.runners import needs_torch
from models.decoders import random_decoder, random_ids

ROWS = 7  # neither 2 nor 3 workers get equal parts

every_engine = pytest.mark.parametrize(
    "engine", ["numpy", pytest.param("torch", marks=needs_torch)]
)
"""Runs a law once for each engine that trains."""


def batch(configuration: ModelConfiguration, rows: int = ROWS) -> tuple[np.ndarray, np.ndarray]:
    """Inputs and targets."""
    inputs, targets = (random_ids(configuration, rows, 6, seed=seed) for seed in (1, 2))
    return inputs, targets


def learner_of(
    configuration: ModelConfiguration,
    engine: str = "numpy",
    dtype: Any = np.float64,
    workers: int = 1,
    loss: Any = next_token_loss,
    seed: int = 0,
    **how: Any,
) -> Any:
    """A learner, the same on every engine; `how` are fields of `Execution`."""
    execution = Execution(engine, workers=workers, **how)
    return choose.learner_of(execution, random_decoder(configuration, dtype, seed), loss)


def gradients(learner: Any, buffer: Any = None) -> dict[str, np.ndarray]:
    """Copies of the gradients, or of another buffer, by path."""
    named = learner.named(learner.gradients if buffer is None else buffer)
    return {path: np.array(array) for path, array in named.items()}
