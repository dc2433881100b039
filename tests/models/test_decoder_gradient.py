"""The gradient of the whole model, for each parameter of each kind of decoder."""

from dataclasses import replace

import numpy as np
import pytest

from clearformer import ops
from models.decoders import (
    VARIANTS,
    both_recipes,
    every_variant,
    loss_and_gradients,
    random_decoder,
    random_ids,
)

pytestmark = pytest.mark.usefixtures("unchecked")  # many calls; in test_tap all are checked

STEP = 1e-5
DIRECTIONS = 2


def check_in_random_directions(configuration, rng, dropout_seed=None):
    """Compares each parameter's gradient with central differences, along directions of length 1."""
    model = random_decoder(configuration)
    ids = random_ids(configuration, 2, 6)
    targets = random_ids(configuration, 2, 6, seed=2)

    c = configuration.completed
    # the same number added to all scores of a query changes no weight
    shifts_whole_rows = c.positions == "sinusoidal" and not c.query_key_norm

    def luck():  # starts anew at each call, so that the same numbers are dropped
        return None if dropout_seed is None else np.random.default_rng(dropout_seed)

    def loss(parameter, shift):
        parameter += shift
        result = float(ops.cross_entropy(model(ids, rng=luck()), targets))
        parameter -= shift
        return result

    _, gradients = loss_and_gradients(model, ids, targets, rng=luck())
    for name, parameter in model.parameters().items():
        gradient = gradients[name]
        for _ in range(DIRECTIONS):
            direction = rng.normal(size=gradient.shape)
            direction *= STEP / np.linalg.norm(direction)
            slope = (loss(parameter, direction) - loss(parameter, -direction)) / (2 * STEP)
            along = (gradient * direction).sum() / STEP
            np.testing.assert_allclose(along, slope, 1e-6, 1e-9, err_msg=name)
        if not (name.endswith("key.bias") and shifts_whole_rows):
            assert abs(gradient).max() > 1e-5, f"{name} has no influence: nothing was proved"


@every_variant
def test_it_agrees_with_finite_differences(configuration, rng):
    check_in_random_directions(configuration, rng)


@both_recipes
def test_it_agrees_with_finite_differences_through_dropout(recipe, rng):
    configuration = replace(VARIANTS[f"the {recipe} recipe"], dropout=0.3)
    check_in_random_directions(configuration, rng, dropout_seed=7)
