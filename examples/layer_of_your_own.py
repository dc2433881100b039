"""A layer of your own is a frozen dataclass with a call; here it takes attention's place.

It prints:

    attention:         loss … after 80 steps, … parameters
    mean of the past:  loss … after 80 steps, … parameters
    attention learns more: True
"""

from dataclasses import dataclass, replace

import numpy as np

from clearformer import ModelConfiguration, ops
from clearformer.engines.choose import choose_engine
from clearformer.models.build import build_decoder
from clearformer.models.decoder import Decoder
from clearformer.models.part import Part
from clearformer.models.tap import Tap, silent
from clearformer.tensor import Float, Tensor
from clearformer.text import Batches, build_tokenizer
from clearformer.training.events import Reporter
from clearformer.training.loop import Loop
from clearformer.training.objective import next_token_loss
from clearformer.training.optimizers import AdamW, AdamWSettings
from clearformer.training.options import TrainingOptions


@dataclass(frozen=True)
class MeanOfThePast(Part):
    """Every position takes the same share from each one before it: attention without a choice."""

    def __call__(
        self, x: Float[Tensor, "batch seq embed"], tap: Tap = silent, cache: None = None
    ) -> Float[Tensor, "batch seq embed"]:
        """A fixed table of weights times x."""
        table = np.tri(x.shape[-2], dtype=x.dtype)
        return tap("output", ops.matmul(table / table.sum(-1, keepdims=True), x))


def learn(name: str, model: Decoder, batches: Batches) -> float:
    """Trains a model for a few steps, says how far it came, and returns its loss."""
    learner = choose_engine("numpy").Learner(model, next_token_loss)
    options = TrainingOptions(steps=80)
    loop = Loop(learner, batches, AdamW(learner, AdamWSettings()), options)
    loop.run(Reporter(), pause=lambda: False)
    count = model.parameter_count()
    print(f"{name:<18} loss {loop.recent_loss:.2f} after {loop.step} steps, {count:,} parameters")
    return loop.recent_loss


names = np.random.default_rng(0).integers(97, 123, (400, 5), np.uint8).astype("S1")
text = "".join(f"{bytes(name).decode()} and {bytes(name).decode()}\n" for name in names)
