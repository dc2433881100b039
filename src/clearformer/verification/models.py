"""Rows of whole models: their logits on both sides, and whether listening changes anything."""

from math import sqrt

import numpy as np

from clearformer.models.configuration import Recipe
from clearformer.models.tap import Recorder, Tap, silent
from clearformer.verification.comparison import Comparison
from clearformer.verification.differences import against_differences
from clearformer.verification.report import Row
from clearformer.verification.sides import Function, Side
from clearformer.verification.tiny_model import configuration_of, random_batch, random_decoder
from clearformer.verification.tolerance import DIFFERENCES, Tolerance

LOGITS = {"float64": Tolerance(1e-12, None), "float32": Tolerance(2e-5, None)}
"""Largest differences of logits, which are numbers around one."""

GRADIENTS = {"float64": Tolerance(1e-10, None), "float32": Tolerance(2e-5, None)}
"""Of their gradients; the weights of the logits are such that these, too, are around one."""


def logits_row(recipe: Recipe, side: Side) -> Row:
    """The logits of a model on a side against the reference.

    On the reference itself, its gradients against finite differences.
    """
    name = f"model ({recipe}): logits"
    function, parameters, seed = _model(recipe)
    if side.is_reference:
        comparison = Comparison(name, side.dtype, LOGITS[side.dtype], DIFFERENCES)
        with comparison.attempt(name):
            found = side.run(function, parameters, seed)
            comparison.value.meet(found.value, function(*found.inputs), name)
            for slopes in against_differences(function, found):
                comparison.gradient.meet(*slopes, name)
        return comparison.row()
    comparison = Comparison(name, side.dtype, LOGITS[side.dtype], GRADIENTS[side.dtype])
    with comparison.attempt(name):
        comparison.run(function, parameters, side, name, seed)
    return comparison.row()


def listened_row(recipe: Recipe, side: Side) -> Row:
    """A model that is listened to against the same, on the same side, left alone."""
    name = f"listening ({recipe})"
    comparison = Comparison(name, side.dtype, LOGITS[side.dtype], GRADIENTS[side.dtype])
    alone, parameters, seed = _model(recipe)
    listened, _, _ = _model(recipe, Recorder())
    with comparison.attempt(name):
        found = side.run(listened, parameters, seed)
        comparison.meet(found, side.run(alone, parameters, seed), name)
    return comparison.row()


def _model(recipe: Recipe, tap: Tap = silent) -> tuple[Function, list[np.ndarray], float]:
    """The logits as a function of the parameters; these; and the size of the logits' weights."""
    model = random_decoder(recipe)
    parameters = model.parameters()
    ids, _ = random_batch(recipe)

    def logits(*tensors: object) -> object:
        named = dict(zip(parameters, tensors, strict=True))
        return model.with_parameters(lambda name, _: named[name])(ids, tap=tap)

    count = ids.size * configuration_of(recipe).vocabulary
    return logits, list(parameters.values()), 1 / sqrt(count)
