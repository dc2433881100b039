"""Laws of AdamW on a learner: matrices decay, vectors do not, and a restored one goes on."""

import numpy as np
import pytest

from clearformer.training.optimizers import AdamW, AdamWSettings
from training import tiny


@pytest.fixture(scope="module")
def classic():
    """Has every kind of parameter: matrices, biases, gains."""
    return tiny.prepared(recipe="classic")


def moved(learner, optimizer, rng, steps=1, first=1):
    """The parameters after some steps with random gradients."""
    for step in range(first, first + steps):
        learner.gradients[:] = rng.standard_normal(len(learner.gradients))
        optimizer.update(step, 0.01)
    return learner.named(learner.parameters)


def test_without_a_gradient_only_matrices_shrink(classic):
    learner = tiny.learner(classic)
    for view in learner.named(learner.parameters).values():
        view[...] = 2.0
    AdamW(learner, AdamWSettings(decay=0.1)).update(1, 0.5)
    found = learner.named(learner.parameters)
    assert {array.ndim for array in found.values()} == {1, 2}
    for name, array in found.items():
        expected = 2.0 * (1 - 0.5 * 0.1) if array.ndim > 1 else 2.0
        np.testing.assert_allclose(array, expected, 1e-6, err_msg=name)


def test_every_parameter_moves_as_the_formula_says(classic, rng):
    """Loshchilov and Hutter, algorithm 2, written down once more without any buffers."""
    learner = tiny.learner(classic, dtype=np.float64)
    settings = AdamWSettings(beta_1=0.8, beta_2=0.9, epsilon=1e-6, decay=0.3)
    optimizer = AdamW(learner, settings)
    expected = {name: w.copy() for name, w in learner.named(learner.parameters).items()}
    m = dict.fromkeys(expected, 0.0)
    v = dict.fromkeys(expected, 0.0)
    for t in range(1, 6):
        learner.gradients[:] = rng.standard_normal(len(learner.gradients))
        for name, g in learner.named(learner.gradients).items():
            m[name] = 0.8 * m[name] + 0.2 * g
            v[name] = 0.9 * v[name] + 0.1 * g**2
            ratio = m[name] / (1 - 0.8**t) / (np.sqrt(v[name] / (1 - 0.9**t)) + 1e-6)
            decay = 0.3 * expected[name] if expected[name].ndim > 1 else 0.0
            expected[name] = expected[name] - 0.02 * (ratio + decay)
        optimizer.update(t, 0.02)
    for name, found in learner.named(learner.parameters).items():
        np.testing.assert_allclose(found, expected[name], 1e-12, 1e-14, err_msg=name)


@pytest.mark.parametrize("workers", [2, 3])
def test_threads_change_nothing(classic, workers):
    alone, shared = (tiny.learner(classic, workers=number) for number in (1, workers))
    one = moved(alone, AdamW(alone, AdamWSettings()), np.random.default_rng(1), 5)
    other = moved(shared, AdamW(shared, AdamWSettings()), np.random.default_rng(1), 5)
    assert tiny.digest(one) == tiny.digest(other)


def test_a_restored_optimizer_goes_on_bit_for_bit(classic):
    learner = tiny.learner(classic)
    optimizer = AdamW(learner, AdamWSettings())
    moved(learner, optimizer, np.random.default_rng(1), 3)
    kept = {name: array.copy() for name, array in optimizer.state().items()}
    weights = learner.parameters.copy()
    expected = tiny.digest(moved(learner, optimizer, np.random.default_rng(2), 3, first=4))

    other = tiny.learner(classic, seed=9)
    other.parameters[:] = weights
    fresh = AdamW(other, AdamWSettings())
    fresh.restore(kept)
    assert tiny.digest(moved(other, fresh, np.random.default_rng(2), 3, first=4)) == expected


def test_its_state_has_two_averages_for_each_parameter(classic):
    learner = tiny.learner(classic)
    state = AdamW(learner, AdamWSettings()).state()
    shapes = {name: array.shape for name, array in learner.named(learner.parameters).items()}
    assert {name: array.shape for name, array in state.items()} == {
        f"{kind}.{name}": shape for kind in ("first", "second") for name, shape in shapes.items()
    }
