"""Gradients against finite differences."""

import numpy as np
import pytest

from clearformer import ops
from clearformer.engines import numpy as engine
from clearformer.engines.tape import record, value_of
from clearformer.verification.operations import operation_row
from clearformer.verification.sides import reference
from clearformer.verification.training_step import training_step_row


def cubed(factor):
    """x³ with `factor` times its slope."""

    def function(x):
        data = value_of(x)
        return record("cubed", data**3, (x,), lambda grad: (grad * factor * 3 * data**2,))

    return function


@pytest.mark.parametrize(("factor", "agrees"), [(1.0, True), (1.001, False), (-1.0, False)])
def test_a_wrong_slope_is_found(factor, agrees, monkeypatch):
    monkeypatch.setattr(engine, "gelu", cubed(factor))
    assert operation_row("gelu", reference()).agrees == agrees


def test_a_wrong_slope_of_a_single_entry_is_found(monkeypatch):
    right = engine.softmax

    def wrong(x, axis=-1):
        share = value_of(right(x, axis))

        def gradient(grad):
            back = share * (grad - (share * grad).sum(axis, keepdims=True))
            if back.size:
                back.flat[-1] *= 1.01
            return (back,)

        return record("softmax", share, (x,), gradient)

    monkeypatch.setattr(engine, "softmax", wrong)
    row = operation_row("softmax", reference())
    assert not row.agrees
    assert "gradient" in row.reason


def test_a_value_that_depends_on_being_recorded_is_found(monkeypatch):
    right = engine.gelu
    monkeypatch.setattr(
        engine, "gelu", lambda x: right(x) if isinstance(x, np.ndarray) else right(x) * (1 + 1e-9)
    )
    row = operation_row("gelu", reference())
    assert not row.agrees
    assert "value" in row.reason


def test_a_whole_step_is_held_against_gradients_without_the_learner(monkeypatch):
    """A learner that forgets a worker, say, cannot be found by comparing it with itself."""
    from clearformer.engines.numpy import Learner

    monkeypatch.setattr(Learner, "gather", lambda self: 1.0)
    row = training_step_row("modern", reference())
    assert not row.agrees
    assert row.gradient.number > 1e-3


def test_no_entry_is_left_out_of_the_common_direction(rng):
    from clearformer.verification.differences import MOST_ENTRIES, against_differences

    outcome = reference().run(ops.gelu, [rng.normal(size=(MOST_ENTRIES + 5,))])
    pairs = list(against_differences(ops.gelu, outcome))
    assert len(pairs) == MOST_ENTRIES + 1
    for mine, wanted in pairs:
        np.testing.assert_allclose(mine, wanted, 1e-6, 1e-8)
