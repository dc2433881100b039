"""Splitting, merging, repeating and turning: nothing is lost and nothing changes place wrongly."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as some

from clearformer import ops
from engines.proofs import few_examples

sizes = some.integers(1, 4)
leads = some.lists(some.integers(0, 3), max_size=2).map(tuple)


@few_examples
@given(lead=leads, seq=sizes, heads=sizes, width=sizes)
def test_merging_undoes_splitting(lead, seq, heads, width):
    x = np.random.default_rng(0).normal(size=(*lead, seq, heads * width))
    split = ops.split_heads(x, heads)
    assert split.shape == (*lead, heads, seq, width)
    np.testing.assert_array_equal(ops.merge_heads(split), x)


def test_a_head_is_a_piece_of_every_position():
    x = np.arange(24).reshape(2, 3, 4) * 1.0
    np.testing.assert_array_equal(ops.split_heads(x, 2)[:, 1], x[:, :, 2:])


def test_copies_of_a_head_stand_side_by_side():
    x = np.arange(12.0).reshape(3, 2, 2)
    np.testing.assert_array_equal(ops.repeat_heads(x, 2), x[[0, 0, 1, 1, 2, 2]])


@few_examples
@given(lead=leads, seq=sizes, half=sizes)
def test_rotating_by_an_angle_and_back_changes_nothing(lead, seq, half):
    rng = np.random.default_rng(0)
    x, turn = rng.normal(size=(*lead, seq, 2 * half)), np.exp(1j * rng.normal(size=(seq, half)))
    turned = ops.rotate(x, turn)
    np.testing.assert_allclose(ops.rotate(turned, turn.conj()), x, 1e-12, 1e-12)
    np.testing.assert_allclose((turned**2).sum(-1), (x**2).sum(-1), 1e-12)  # lengths stay


def test_a_quarter_turn_takes_the_first_of_a_pair_to_the_second():
    x = np.array([[1.0, 0.0, 0.0, 1.0]])
    np.testing.assert_allclose(ops.rotate(x, np.full((1, 2), 1j)), [[0, 1, -1, 0]], atol=1e-15)


def test_turning_twice_changes_nothing(rng):
    x = rng.normal(size=(2, 3, 4))
    np.testing.assert_array_equal(ops.transpose(ops.transpose(x)), x)
