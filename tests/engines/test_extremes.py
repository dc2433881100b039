"""Numbers near the end of float32: wherever the true result is a float32, it is found.

Overflow on the way is allowed (NumPy would warn of it); a wrong result is not.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from clearformer import ops
from engines.proofs import weighted_gradients, weights_like

HUGE = np.float32(3e38)
EXTREMES = np.array([-HUGE, -1e20, -1e14, -1e4, -1.0, 0.0, 1.0, 1e4, 1e14, 1e20, HUGE], np.float32)


def check_extremes(function: Callable[..., Any], *arrays: np.ndarray) -> None:
    """Value and gradients in float32 equal those of the same numbers in float64."""
    wide = [x.astype(np.float64) for x in arrays]
    weights = weights_like(np.asarray(function(*wide)))
    expected = weighted_gradients(function, weights, *wide)
    with np.errstate(over="ignore", under="ignore"):
        found = weighted_gradients(function, weights.astype(np.float32), *arrays)
    for mine, wanted in zip((found[0], *found[1]), (expected[0], *expected[1]), strict=True):
        assert np.isfinite(wanted).all(), "the true result must be a number"
        np.testing.assert_allclose(mine, wanted, 1e-5, 1e-6)


def test_silu_is_straight_far_away():
    check_extremes(ops.silu, EXTREMES)


def test_gelu_is_straight_while_the_square_is_a_number():
    """Beyond 1e19 its slope is not a number, as in PyTorch; training then stops by name."""
    check_extremes(ops.gelu, EXTREMES[abs(EXTREMES) < 1e15])


def test_squared_relu_is_a_number_while_the_square_is():
    check_extremes(ops.squared_relu, EXTREMES[EXTREMES < 1e15])


@pytest.mark.parametrize("axis", [0, -1])
def test_softmax_of_extremes(axis):
    check_extremes(lambda x: ops.softmax(x, axis), np.stack([EXTREMES, -EXTREMES]))


def test_cross_entropy_of_extremes():
    check_extremes(
        lambda x: ops.cross_entropy(x, np.array([10, 0])), np.stack([EXTREMES, -EXTREMES])
    )


@pytest.mark.parametrize("causal", [False, True])
def test_attention_of_extreme_scores(causal):
    key = np.array([[1.0], [-1.0], [0.5]], np.float32)
    check_extremes(
        lambda *qkv: ops.attention(*qkv, causal=causal, scale=1.0),
        EXTREMES[:, None],
        key,
        np.eye(3, dtype=np.float32),
    )


def test_extremes_go_through_unchanged_where_nothing_is_computed():
    for function in (
        ops.transpose,
        lambda x: ops.embed(np.array([1, 0]), x),
        lambda x: ops.matmul(x, np.eye(11, dtype=x.dtype)),
        lambda x: ops.linear(x, np.eye(11, dtype=x.dtype), np.zeros(11, x.dtype)),
    ):
        check_extremes(function, np.stack([EXTREMES, -EXTREMES]))
