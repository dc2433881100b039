"""The gradient of the whole model, for each parameter of each kind of decoder."""

from dataclasses import replace

import numpy as np

from clearformer import ops
from models.decoders import (
    VARIANTS,
    both_recipes,
    every_variant,
    loss_and_gradients,
    random_decoder,
    random_ids,
)

STEP = 1e-5
DIRECTIONS = 2


def check_in_random_directions(configuration, rng, dropout_seed=None):
    """Compares each parameter's gradient with central differences, along directions of length 1."""
    model = random_decoder(configuration)
    ids = random_ids(configuration, 2, 6)
    targets = random_ids(configuration, 2, 6, seed=2)

    def luck():  # starts anew at each call, so that the same numbers are dropped
        return None if dropout_seed is None else np.random.default_rng(dropout_seed)

    def loss(moved, shift):
        changed = model.with_parameters(lambda name, p: p + shift if name == moved else p)
        return float(ops.cross_entropy(changed(ids, rng=luck()), targets))

    _, gradients = loss_and_gradients(model, ids, targets, rng=luck())
    for name, gradient in gradients.items():
        for _ in range(DIRECTIONS):
            direction = rng.normal(size=gradient.shape)
            direction /= np.linalg.norm(direction)
            slope = (loss(name, STEP * direction) - loss(name, -STEP * direction)) / (2 * STEP)
            along = (gradient * direction).sum()
            np.testing.assert_allclose(along, slope, 1e-6, 1e-9, err_msg=name)
        if (name, configuration.bias) != _WITHOUT_INFLUENCE:
            assert abs(gradient).max() > 1e-5, f"{name} has no influence: nothing was proved"


_WITHOUT_INFLUENCE = ()


@every_variant
def test_it_agrees_with_finite_differences(configuration, rng, unchecked):
    check_in_random_directions(configuration, rng)


@both_recipes
def test_it_agrees_with_finite_differences_through_dropout(recipe, rng, unchecked):
    configuration = replace(VARIANTS[f"the {recipe} recipe"], dropout=0.3)
    check_in_random_directions(configuration, rng, dropout_seed=7)
