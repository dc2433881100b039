"""The gradient of the whole model, for each parameter of each kind of decoder."""

import numpy as np
import pytest

from clearformer import ops
from models.decoders import VARIANTS, every_variant, loss_and_gradients, random_decoder, random_ids

STEP = 1e-5
DIRECTIONS = 2


def check(model, ids, targets, rng, **options):
    """Compares with central differences along random directions of length one."""

    def loss(changed):
        return float(ops.cross_entropy(changed(ids, **_fresh(options)), targets))

    _, gradients = loss_and_gradients(model, ids, targets, **_fresh(options))
    for name, gradient in gradients.items():
        for _ in range(DIRECTIONS):
            direction = rng.normal(size=gradient.shape)
            direction /= np.linalg.norm(direction)
            up, down = (
                loss(model.with_parameters(lambda n, p, s=s: p + s * direction * (n == name)))
                for s in (STEP, -STEP)
            )
            np.testing.assert_allclose(
                (gradient * direction).sum(), (up - down) / (2 * STEP), 1e-6, 1e-9, err_msg=name
            )
        assert abs(gradient).max() > 1e-6, f"{name} has no influence, so nothing was proved"


def _fresh(options):
    """A generator starts anew at each call: the same dropout."""
    return {name: np.random.default_rng(seed) for name, seed in options.items()}


@every_variant
def test_it_agrees_with_finite_differences(configuration, rng, unchecked):
    ids = random_ids(configuration, 2, 6)
    check(random_decoder(configuration), ids, random_ids(configuration, 2, 6, seed=2), rng)


@pytest.mark.parametrize("recipe", ["modern", "classic"])
def test_it_agrees_with_finite_differences_through_dropout(recipe, rng, unchecked):
    from dataclasses import replace

    configuration = replace(VARIANTS[f"the {recipe} recipe"], dropout=0.3)
    ids = random_ids(configuration, 3, 6)
    targets = random_ids(configuration, 3, 6, seed=2)
    check(random_decoder(configuration), ids, targets, rng, rng=7)
