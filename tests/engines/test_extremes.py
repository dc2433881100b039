"""Numbers near the end of float32: wherever the true result is a float32, it is found.

Overflow on the way is allowed (NumPy would warn of it); a wrong result is not.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from clearformer import ops
from clearformer.tensor import number_type
from engines.proofs import weights_like
from engines.runners import ByNumPy, ByPyTorch, every_engine

HUGE = np.float32(3e38)
EXTREMES = np.array([-HUGE, -1e20, -1e14, -1e4, -1.0, 0.0, 1.0, 1e4, 1e14, 1e20, HUGE], np.float32)


def check_extremes(
    by: ByNumPy | ByPyTorch, function: Callable[..., Any], *arrays: np.ndarray
) -> None:
    """Value and gradients in float32 equal those of the same numbers in float64."""
    wide = [x.astype(np.float64) for x in arrays]
    weights = weights_like(by.value(function, *wide))
    expected = by.gradients(function, weights, *wide)
    with np.errstate(over="ignore", under="ignore"):
        found = by.gradients(function, weights.astype(np.float32), *arrays)
    for mine, wanted in zip((found[0], *found[1]), (expected[0], *expected[1]), strict=True):
        assert np.isfinite(wanted).all(), "the true result must be a number"
        np.testing.assert_allclose(mine, wanted, 1e-5, 1e-6)


@every_engine
def test_silu_is_straight_far_away(by):
    check_extremes(by, ops.silu, EXTREMES)


@every_engine
def test_gelu_is_straight_while_the_square_is_a_number(by):
    """Beyond 1e19 its slope is not a number, as in PyTorch; training then stops by name."""
    check_extremes(by, ops.gelu, EXTREMES[abs(EXTREMES) < 1e15])


@every_engine
def test_squared_relu_is_a_number_while_the_square_is(by):
    check_extremes(by, ops.squared_relu, EXTREMES[EXTREMES < 1e15])


@every_engine
@pytest.mark.parametrize("axis", [0, -1])
def test_softmax_of_extremes(by, axis):
    check_extremes(by, lambda x: ops.softmax(x, axis), np.stack([EXTREMES, -EXTREMES]))


@every_engine
def test_cross_entropy_of_extremes(by):
    check_extremes(
        by, lambda x: ops.cross_entropy(x, np.array([10, 0])), np.stack([EXTREMES, -EXTREMES])
    )


@every_engine
@pytest.mark.parametrize("causal", [False, True])
def test_attention_of_extreme_scores(by, causal):
    key = np.array([[1.0], [-1.0], [0.5]], np.float32)
    check_extremes(
        by,
        lambda *qkv: ops.attention(*qkv, causal=causal, scale=1.0),
        EXTREMES[:, None],
        key,
        np.eye(3, dtype=np.float32),
    )


@every_engine
def test_extremes_go_through_unchanged_where_nothing_is_computed(by):
    for function in (
        ops.transpose,
        lambda x: ops.embed(np.array([1, 0]), x),
        lambda x: ops.matmul(x, np.eye(11, dtype=number_type(x))),
        lambda x: ops.linear(x, np.eye(11, dtype=number_type(x)), np.zeros(11, number_type(x))),
    ):
        check_extremes(by, function, np.stack([EXTREMES, -EXTREMES]))


@every_engine
def test_numbers_too_small_to_be_normal_are_numbers_too(by):
    tiny = np.float32(1e-41) * np.arange(-3, 9, dtype=np.float32).reshape(3, 4)
    row = np.ones(4, np.float32)
    for function in (
        ops.softmax,
        ops.silu,
        ops.gelu,
        ops.rms_norm,
        lambda x: ops.layer_norm(x, row, row),
        lambda x: ops.attention(x, x, x, causal=True),
        lambda x: ops.cross_entropy(x, np.array([0, 1, 3])),
    ):
        check_extremes(by, function, tiny)


@every_engine
def test_a_vocabulary_of_one_leaves_nothing_to_learn(by):
    value, (gradient,) = by.gradients(
        lambda x: ops.cross_entropy(x, np.zeros(3, int)),
        np.ones(()),
        np.array([[2.0], [-1e4], [0]]),
    )
    assert value == 0
    assert not gradient.any()


@every_engine
def test_a_large_vocabulary_agrees_with_float64(by, rng):
    logits, targets = 5 * rng.normal(size=(3, 70_000)), np.array([69_999, -100, 0])
    check_extremes(by, lambda x: ops.cross_entropy(x, targets), logits.astype(np.float32))
