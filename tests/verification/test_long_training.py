"""Five hundred steps of training: the engines stay together."""

import json
from pathlib import Path

import numpy as np
import pytest

from clearformer.verification.tiny_model import RECIPES
from documents import run_python

pytest.importorskip("torch", reason="comparing with PyTorch needs PyTorch (extra torch)")

STEPS = 500


@pytest.fixture(scope="module")
def losses(tmp_path_factory):
    """By recipe and engine, the loss of every step."""
    script = Path(__file__).with_name("five_hundred_steps.py")
    done = run_python([str(script)], tmp_path_factory.mktemp("training"))
    assert done.returncode == 0, done.stdout
    return json.loads(done.stdout)


@pytest.mark.parametrize("recipe", RECIPES)
def test_after_five_hundred_steps_in_float64_both_engines_have_the_same_loss(recipe, losses):
    ours, theirs = (np.array(losses[recipe][engine]) for engine in ("numpy", "torch"))
    assert len(ours) == len(theirs) == STEPS
    assert ours[-1] < 0.6 * ours[0], "it must have learned something"
    np.testing.assert_allclose(theirs, ours, rtol=0, atol=1e-9)
    assert (theirs != ours).any(), "two engines never round alike: these were the same"
