"""The row of a whole training step: loss, every gradient, and the weights after AdamW."""

from dataclasses import asdict, dataclass, replace
from math import sqrt
from typing import Any

import numpy as np

from clearformer.engines.choose import learner_of
from clearformer.engines.dispatch import array_of
from clearformer.engines.execution import Execution
from clearformer.models.configuration import Recipe
from clearformer.models.decoder import Decoder
from clearformer.training.next_token import next_token_loss
from clearformer.training.optimizers import AdamW, AdamWSettings
from clearformer.verification.comparison import Comparison
from clearformer.verification.optimizer import by_the_book
from clearformer.verification.report import Row
from clearformer.verification.sensitivity import movements
from clearformer.verification.sides import Function, Outcome, Side, reference, wide
from clearformer.verification.tiny_model import random_batch, random_decoder
from clearformer.verification.tolerance import GRADIENT, NARROW, VALUE, Tolerance

SETTINGS = AdamWSettings(epsilon=1e-3)
"""AdamW divides a gradient by its own size. One that is rounding and nothing else (that of a key's
bias is zero, since a softmax does not see what all its scores share) would decide a whole step by
its sign, if ε did not outweigh it."""

LEARNING_RATE = 0.01

WORKERS = 2
"""Workers that share the batch on processors, so that adding up their gradients is met too."""

PRODUCTS = 13
"""One after another, from the embedding to the logits of two layers."""

WHOLE = Tolerance(sqrt(PRODUCTS) * NARROW["bfloat16"].bound, NARROW["bfloat16"].floor)
"""For products in bfloat16: their roundings add up like the steps of a random walk, as √n."""


def training_step_row(recipe: Recipe, side: Side) -> Row:
    """A training step on a side, as training makes it, against the reference.

    `bfloat16` means the products only, as in training; what is added up is float32. There the
    weights after the step are not compared: AdamW makes large steps of small gradients.
    """
    name = f"training step ({recipe})"
    narrow = side.dtype == "bfloat16"
    value, gradient = (WHOLE, WHOLE) if narrow else (VALUE[side.dtype], GRADIENT[side.dtype])
    comparison = Comparison(name, side.dtype, value, gradient)
    with comparison.attempt(name):
        model, batch = _model_for(side, recipe), random_batch(recipe)
        function = _loss_of(model, *batch)
        outcome = reference().run(function, list(model.parameters().values()), np.ones(()))
        found, expected = _trained(side, model, *batch), _expected(model, outcome)
        moved = _movements(function, outcome, model) if narrow else {}
        comparison.value.meet(found.loss, expected.loss, "the loss", moved.get("loss"))
        for path, wanted in expected.gradients.items():
            comparison.gradient.meet(found.gradients[path], wanted, path, moved.get(path))
            if not narrow:
                comparison.value.meet(found.weights[path], expected.weights[path], path)
    return comparison.row()


@dataclass(frozen=True)
class _Step:
    """What a training step computed, in float64."""

    loss: np.ndarray
    gradients: dict[str, np.ndarray]
    weights: dict[str, np.ndarray]
    """After the step."""


def _model_for(side: Side, recipe: Recipe) -> Decoder:
    """A model whose numbers the side can hold exactly."""

    def rounded(_: str, parameter: np.ndarray) -> np.ndarray:
        if side.dtype == "bfloat16" and parameter.ndim < 2:
            return parameter.astype(np.float32)
        return np.array(array_of(side.tensor(parameter)))

    return random_decoder(recipe).with_parameters(rounded)


def _trained(side: Side, model: Decoder, inputs: np.ndarray, targets: np.ndarray) -> _Step:
    """One step with the learner that trains there."""
    precision = "bfloat16" if side.dtype == "bfloat16" else "float32"
    workers = WORKERS if side.device == "cpu" else 1
    execution = Execution(side.engine, side.device, precision, workers=workers)
    learner = learner_of(execution, model, next_token_loss)
    with learner.running():
        loss = learner.loss_and_gradients(inputs, targets)
        learner.gather()
        gradients = {path: wide(x) for path, x in learner.named(learner.gradients).items()}
        AdamW(learner, SETTINGS).update(1, LEARNING_RATE)
    weights = {path: wide(x) for path, x in learner.named(learner.parameters).items()}
    return _Step(np.asarray(loss), gradients, weights)


def _loss_of(model: Decoder, inputs: np.ndarray, targets: np.ndarray) -> Function:
    """The loss as a function of the parameters."""
    paths = model.parameters()

    def loss(*tensors: Any) -> Any:
        named = dict(zip(paths, tensors, strict=True))
        return next_token_loss(model.with_parameters(lambda path, _: named[path]), inputs, targets)

    return loss


def _expected(model: Decoder, outcome: Outcome) -> _Step:
    """The same from the reference, all rows at once, with AdamW by its formula."""
    parameters = model.parameters()
    gradients = dict(zip(parameters, outcome.gradients, strict=True))
    weights = {}
    for path, before in parameters.items():
        decay = SETTINGS.decay if before.ndim > 1 else 0.0
        zero = np.zeros(before.shape)
        weights[path], _, _ = by_the_book(
            before.astype(np.float64),
            gradients[path],
            zero,
            zero,
            step=1,
            learning_rate=LEARNING_RATE,
            **asdict(replace(SETTINGS, decay=decay)),
        )
    return _Step(outcome.value, gradients, weights)


def _movements(function: Function, outcome: Outcome, model: Decoder) -> dict[str, np.ndarray]:
    """How far loss and gradients move when parameters are rounded (see `sensitivity`).

    Added to it is the root mean square of all gradients: a gradient that is zero only because large
    terms cancel each other exactly, as that of a key's bias does, does not stay zero.
    """
    found = movements(function, reference(), outcome)
    everything = np.concatenate([x.reshape(-1) for x in outcome.gradients])
    typical = np.sqrt(np.mean(everything**2))
    named = zip(("loss", *model.parameters()), found, strict=True)
    return {path: movement + typical for path, movement in named}
