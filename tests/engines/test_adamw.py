"""AdamW, step for step, by every engine."""

from importlib import import_module

import numpy as np
import pytest

from clearformer import ops
from engines.runners import BY_NUMPY, BY_PYTORCH, ByNumPy, ByPyTorch, every_engine, needs_torch

OPTIONS = [
    {"learning_rate": 1e-3},
    {"learning_rate": 0.02, "beta_1": 0.8, "beta_2": 0.95, "epsilon": 1e-10, "decay": 0.1},
]


every_option = pytest.mark.parametrize("options", OPTIONS, ids=["defaults", "all options"])


def adamw(by: ByNumPy | ByPyTorch, *arrays: np.ndarray, **options: float) -> None:
    """One step on the arrays themselves: a tensor of PyTorch shares their memory."""
    tensors = map(BY_PYTORCH.tensor, arrays) if by is BY_PYTORCH else arrays
    ops.adamw(*tensors, **options)


def both_after(
    by: ByNumPy | ByPyTorch, torch, options: dict, gradients: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Parameters, first and second moments after one step per row: ours, and PyTorch's."""
    parameters, first, second = state = np.zeros((3, gradients.shape[1]), gradients.dtype)
    parameters += np.linspace(-2, 2, parameters.size, dtype=parameters.dtype)
    theirs = torch.from_numpy(parameters.copy()).requires_grad_()
    optimizer = torch.optim.AdamW(
        [theirs],
        lr=options["learning_rate"],
        betas=(options.get("beta_1", 0.9), options.get("beta_2", 0.999)),
        eps=options.get("epsilon", 1e-8),
        weight_decay=options.get("decay", 0.0),
    )
    for step, row in enumerate(gradients, start=1):
        theirs.grad = torch.from_numpy(row.copy())
        optimizer.step()
        adamw(by, parameters, row, first, second, step=step, **options)
    moments = optimizer.state[theirs]
    expected = theirs.detach(), moments["exp_avg"], moments["exp_avg_sq"]
    return state, np.stack([x.numpy() for x in expected])


@every_option
def test_a_thousand_steps_agree_with_torch(options, rng, torch):
    gradients = rng.normal(size=(1000, 20)) * 10.0 ** rng.integers(-6, 3, 20)
    found, expected = both_after(BY_NUMPY, torch, options, gradients)
    np.testing.assert_allclose(found, expected, 1e-10, 1e-10)


@needs_torch
@every_option
def test_the_engines_agree_after_a_thousand_steps(options, rng):
    gradients = rng.normal(size=(1000, 20)) * 10.0 ** rng.integers(-6, 3, 20)
    states = np.zeros((2, 3, 20))
    states[:, 0] = np.linspace(-2, 2, 20)
    for step, row in enumerate(gradients, start=1):
        for by, (parameters, first, second) in zip((BY_NUMPY, BY_PYTORCH), states, strict=True):
            adamw(by, parameters, row, first, second, step=step, **options)
    np.testing.assert_allclose(states[1], states[0], 1e-10, 1e-10)


@every_engine
@every_option
def test_float32_agrees_with_torch(by, options, rng, torch):
    gradients = rng.normal(size=(10, 20)).astype(np.float32)
    found, expected = both_after(by, torch, options, gradients)
    torch.testing.assert_close(torch.from_numpy(found), torch.from_numpy(expected))


@every_engine
def test_the_first_step_has_the_length_of_the_learning_rate(by, rng):
    """m̂ = g and v̂ = g² at first, so that only the sign of the gradient matters."""
    parameters, gradients = np.zeros(5), rng.normal(size=5)
    adamw(by, parameters, gradients, np.zeros(5), np.zeros(5), step=1, learning_rate=0.1)
    np.testing.assert_allclose(parameters, -0.1 * np.sign(gradients), 1e-6)


@every_engine
def test_decay_works_on_the_parameters_not_through_the_gradient(by, rng):
    parameters = rng.normal(size=5)
    expected = parameters * (1 - 0.1 * 0.5)
    none = np.zeros(5)
    adamw(by, parameters, none, np.zeros(5), np.zeros(5), step=1, learning_rate=0.1, decay=0.5)
    np.testing.assert_allclose(parameters, expected, 1e-15)


@every_engine
def test_it_works_in_place_on_views_of_a_larger_buffer(by, rng):
    buffer = rng.normal(size=(4, 10)).astype(np.float32)
    before = buffer.copy()
    parameters, gradients, first, second = buffer[:, 2:5]
    adamw(by, parameters, gradients, first, np.abs(second), step=3, learning_rate=0.1)
    assert (buffer[0, 2:5] != before[0, 2:5]).all()
    assert (buffer[2, 2:5] != before[2, 2:5]).all()
    np.testing.assert_array_equal(buffer[1], before[1])  # gradients are left alone
    np.testing.assert_array_equal(buffer[:, :2], before[:, :2])
    np.testing.assert_array_equal(buffer[:, 5:], before[:, 5:])
    assert buffer.dtype == np.float32


def test_a_step_on_parameters_that_want_gradients_is_not_recorded(torch):
    parameters = torch.ones(3, requires_grad=True)
    ops.adamw(parameters, torch.ones(3), torch.zeros(3), torch.zeros(3), step=1, learning_rate=0.1)
    assert parameters.is_leaf
    assert parameters.grad_fn is None
    assert (parameters < 1).all()


@pytest.mark.parametrize("block", [1, 3, 10])
def test_numbers_are_moved_block_by_block_as_all_at_once(block, monkeypatch):
    ends = []
    for size in (block, 10**9):
        monkeypatch.setattr(import_module("clearformer.engines.numpy.adamw"), "BLOCK", size)
        arrays = [np.random.default_rng(0).random(10).astype(np.float32) for _ in range(4)]
        before = arrays[0].copy()
        ops.adamw(*arrays, step=3, learning_rate=0.1, decay=0.2)
        assert (arrays[0] != before).all()
        ends.append([array.tobytes() for array in arrays])
    assert ends[0] == ends[1]
