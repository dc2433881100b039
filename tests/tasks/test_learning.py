"""Recall can be learned by looking back: the decoder learns it in some hundred steps."""

from typing import Any

import jaxtyping
import numpy as np
import pytest

from clearformer.engines.numpy import Learner
from clearformer.models.build import build_decoder
from clearformer.models.configuration import ModelConfiguration
from clearformer.tasks.recall import Recall
from clearformer.training.loop import Loop
from clearformer.training.next_token import next_token_loss
from clearformer.training.optimizers import AdamW, AdamWSettings
from clearformer.training.options import TrainingOptions

BATCH = 16


@pytest.fixture(scope="module", autouse=True)
def unchecked_shapes():
    """Shapes are checked where operations and models are tested; here things run as for a user."""
    jaxtyping.config.update("jaxtyping_disable", True)
    yield
    jaxtyping.config.update("jaxtyping_disable", False)


class Draws:
    """The batches of a loop: new rows of a task, endlessly."""

    def __init__(self, task: Recall, rng: np.random.Generator):
        self.task, self.rng = task, rng
        self.targets = BATCH * task.queries

    def next(self) -> tuple[np.ndarray, np.ndarray]:
        return self.task.draw(self.rng, BATCH)


def accuracy_after(task: Recall, steps: int, seed: int = 0) -> float:
    """On unseen rows, of a decoder of two layers that is trained for so many steps.

    The classic recipe: it needs about 100 steps at any distance up to 256. The modern one needs
    several times as many at 256, with its normalised queries and keys and without.
    """
    size = {"layers": 2, "heads": 2, "embed": 64, "context": task.context}
    model = build_decoder(
        ModelConfiguration(len(task.vocabulary), recipe="classic", **size),
        np.random.default_rng(seed),
    )
    learner = Learner(model, next_token_loss)
    options = TrainingOptions(steps=steps, batch=BATCH, seed=seed)
    draws: Any = Draws(task, np.random.default_rng([seed, 1]))
    loop = Loop(learner, draws, AdamW(learner, AdamWSettings(decay=options.weight_decay)), options)
    with learner.running():
        while loop.progress < 1:
            loop.one_step()
    inputs, targets = task.draw(np.random.default_rng([seed, 2]), 100, "test")
    return task.accuracy(learner.model(inputs).argmax(-1), targets)


def test_a_decoder_learns_to_look_back():
    assert accuracy_after(Recall(distance=16), steps=150) > 0.99


def test_one_that_has_not_learned_is_right_by_chance():
    """At most: it does not yet know that the answer is of the slot that is asked."""
    task = Recall(distance=16)
    assert accuracy_after(task, steps=1) < 2 * task.chance


@pytest.mark.long
@pytest.mark.parametrize("distance", [64, 256])
def test_a_decoder_learns_to_look_back_far(distance):
    assert accuracy_after(Recall(distance=distance), steps=300) > 0.99
