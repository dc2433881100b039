"""Splitting, merging, repeating and turning: nothing is lost and nothing changes place wrongly."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from clearformer import ops
from engines.proofs import few_examples
from engines.runners import every_engine

sizes = some.integers(1, 4)
leads = some.lists(some.integers(0, 3), max_size=2).map(tuple)


@every_engine
@few_examples
@given(lead=leads, seq=sizes, heads=sizes, width=sizes)
def test_merging_undoes_splitting(by, lead, seq, heads, width):
    x = np.random.default_rng(0).normal(size=(*lead, seq, heads * width))
    split = by.value(lambda x: ops.split_heads(x, heads), x)
    assert split.shape == (*lead, heads, seq, width)
    np.testing.assert_array_equal(by.value(ops.merge_heads, split), x)


@every_engine
def test_a_head_is_a_piece_of_every_position(by):
    x = np.arange(24).reshape(2, 3, 4) * 1.0
    split = by.value(lambda x: ops.split_heads(x, 2), x)
    np.testing.assert_array_equal(split[:, 1], x[:, :, 2:])


@every_engine
def test_copies_of_a_head_stand_side_by_side(by):
    x = np.arange(12.0).reshape(3, 2, 2)
    repeated = by.value(lambda x: ops.repeat_heads(x, 2), x)
    np.testing.assert_array_equal(repeated, x[[0, 0, 1, 1, 2, 2]])


@every_engine
@few_examples
@given(lead=leads, seq=sizes, half=sizes)
def test_rotating_by_an_angle_and_back_changes_nothing(by, lead, seq, half):
    rng = np.random.default_rng(0)
    x, turn = rng.normal(size=(*lead, seq, 2 * half)), np.exp(1j * rng.normal(size=(seq, half)))
    turned = by.value(lambda x: ops.rotate(x, turn), x)
    back = by.value(lambda x: ops.rotate(x, turn.conj()), turned)
    np.testing.assert_allclose(back, x, 1e-12, 1e-12)
    np.testing.assert_allclose((turned**2).sum(-1), (x**2).sum(-1), 1e-12)  # lengths stay


@every_engine
def test_a_quarter_turn_takes_the_first_of_a_pair_to_the_second(by):
    x = np.array([[1.0, 0.0, 0.0, 1.0]])
    turned = by.value(lambda x: ops.rotate(x, np.full((1, 2), 1j)), x)
    np.testing.assert_allclose(turned, [[0, 1, -1, 0]], atol=1e-15)


@every_engine
@pytest.mark.parametrize("heads", [1, 2, 4])
def test_normalising_and_turning_at_once_is_one_after_the_other(by, rng, heads):
    """Value and gradient, also where the heads still lie inside of the positions."""
    x = rng.normal(size=(2, 3, 8))
    turn = np.exp(1j * rng.normal(size=(3, 4 // heads)))
    weights = rng.normal(size=(2, heads, 3, 8 // heads))

    def apart(x):
        return ops.rotate(ops.rms_norm(ops.split_heads(x, heads)), turn)

    def at_once(x):
        return ops.rotate_unit(ops.split_heads(x, heads), turn)

    found, (gradient,) = by.gradients(at_once, weights, x)
    wanted, (wanted_gradient,) = by.gradients(apart, weights, x)
    np.testing.assert_allclose(by.value(at_once, x), wanted, 1e-12, 1e-12)
    np.testing.assert_allclose(found, wanted, 1e-12, 1e-12)
    np.testing.assert_allclose(gradient, wanted_gradient, 1e-12, 1e-12)


@every_engine
def test_turning_twice_changes_nothing(by, rng):
    x = rng.normal(size=(2, 3, 4))
    np.testing.assert_array_equal(by.value(lambda x: ops.transpose(ops.transpose(x)), x), x)
