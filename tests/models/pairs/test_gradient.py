"""The gradient of both models on pairs, for each parameter, with rows that are filled up."""

import numpy as np
import pytest

from clearformer import ops
from clearformer.engines.tape import Tape
from models.pairs.small import END, batch, every_model, random_model

pytestmark = pytest.mark.usefixtures("unchecked")  # many calls; in test_model all are checked

STEP = 2e-6


@pytest.fixture
def targets():
    wanted = np.random.default_rng(2).integers(0, 11, (3, 6))
    wanted[0, 5], wanted[1, 3:], wanted[1, 2] = END, -100, END
    return wanted


@every_model
def test_it_agrees_with_finite_differences(name, targets, rng):
    model, (sources, lengths, inputs) = random_model(name), batch()

    def loss(of):
        return ops.cross_entropy(of(sources, inputs, lengths=lengths), targets)

    tape = Tape()
    watched = model.with_parameters(lambda _, p: tape.watch(p))
    tape.backward(loss(watched))
    leaves = watched.parameters()
    for path, parameter in model.parameters().items():
        gradient = tape.gradient(leaves[path])
        direction = rng.normal(size=gradient.shape)
        direction *= STEP / np.linalg.norm(direction)
        sides = []
        for shift in (direction, -2 * direction, direction):  # above, below, back
            np.add(parameter, shift, out=parameter)
            sides.append(float(loss(model)))
        slope = (sides[0] - sides[1]) / (2 * STEP)
        along = (gradient * direction).sum() / STEP
        np.testing.assert_allclose(along, slope, 2e-6, 2e-9, err_msg=path)
        harmless = name.startswith("classic") and path.endswith("key.bias")
        assert harmless or abs(gradient).max() > 1e-6, f"{path} has no influence"


@every_model
def test_both_engines_agree_in_every_gradient(name, targets):
    torch = pytest.importorskip("torch")
    model, (sources, lengths, inputs) = random_model(name), batch()
    tape = Tape()
    watched = model.with_parameters(lambda _, p: tape.watch(p))
    tape.backward(ops.cross_entropy(watched(sources, inputs, lengths=lengths), targets))
    theirs = model.with_parameters(lambda _, p: torch.tensor(p, requires_grad=True))
    ops.cross_entropy(theirs(sources, inputs, lengths=lengths), targets).backward()
    leaves = watched.parameters()
    for path, parameter in theirs.parameters().items():
        mine = tape.gradient(leaves[path])
        found = np.zeros_like(mine) if parameter.grad is None else parameter.grad.numpy()
        np.testing.assert_allclose(mine, found, 1e-8, 1e-10, err_msg=path)
