"""Trains a tiny model with both engines and prints every loss; run by `test_long_training`.

In a process of its own: under pytest every function is checked, which takes four times as long.
"""

import json
import sys

import numpy as np

from clearformer.engines.choose import learner_of
from clearformer.engines.execution import Execution
from clearformer.models.build import build_decoder
from clearformer.models.configuration import ModelConfiguration, Recipe
from clearformer.text.batches import Batches
from clearformer.training.loop import Loop
from clearformer.training.next_token import next_token_loss
from clearformer.training.optimizers import AdamW, AdamWSettings
from clearformer.training.options import TrainingOptions
from clearformer.verification.tiny_model import RECIPES

STEPS = 500
TEXT = "the cat sat on the mat; the dog ran to the cat. " * 12
VOCABULARY = sorted(set(TEXT))


def losses(engine: str, recipe: Recipe) -> list[float]:
    """The loss of every step, as training makes them: schedule, clipping, decay and dropout."""
    configuration = ModelConfiguration(
        vocabulary=len(VOCABULARY),
        layers=1,
        heads=2,
        embed=16,
        context=8,
        recipe=recipe,
        dropout=0.1,
    )
    options = TrainingOptions(steps=STEPS, batch=4)
    model = build_decoder(configuration, np.random.default_rng(0), np.float64)
    learner = learner_of(Execution(engine), model, next_token_loss)
    ids = np.array([VOCABULARY.index(character) for character in TEXT])
    batches = Batches(ids, configuration.context, options.batch, np.random.default_rng(1))
    optimizer = AdamW(learner, AdamWSettings(decay=options.weight_decay))
    loop = Loop(learner, batches, optimizer, options)
    with learner.running():
        return [loop.one_step()[0] for _ in range(STEPS)]


if __name__ == "__main__":
    found = {
        recipe: {engine: losses(engine, recipe) for engine in ("numpy", "torch")}
        for recipe in RECIPES
    }
    json.dump(found, sys.stdout)
