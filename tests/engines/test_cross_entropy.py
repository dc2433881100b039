"""The loss: nats per counted token."""

import numpy as np
import pytest

from clearformer import ops
from clearformer.engines import numpy as numpy_engine
from clearformer.errors import ShapeError
from engines.proofs import check_against_torch, check_gradient, weighted_gradients


@pytest.mark.parametrize("vocab", [1, 2, 65, 1000])
@pytest.mark.parametrize("level", [0.0, -50.0, 1e4])
def test_who_knows_nothing_pays_the_logarithm_of_the_vocabulary(vocab, level):
    logits = np.full((3, vocab), level)
    loss = ops.cross_entropy(logits, np.zeros(3, int))
    np.testing.assert_allclose(loss, np.log(vocab), 1e-12, 1e-12)


def test_the_loss_is_the_mean_over_counted_positions_only(rng):
    logits, targets = rng.normal(size=(5, 7)), np.array([1, -100, 6, -100, 0])
    counted = targets != -100
    np.testing.assert_allclose(
        ops.cross_entropy(logits, targets),
        ops.cross_entropy(logits[counted], targets[counted]),
        1e-14,
    )


def test_what_is_ignored_has_no_influence_and_gradient_zero(rng):
    logits, targets = rng.normal(size=(3, 4)), np.array([1, -100, 2])
    value, (gradient,) = weighted_gradients(
        lambda x: ops.cross_entropy(x, targets), np.ones(()), logits
    )
    logits[1] = 1e4 * rng.normal(size=4)
    assert ops.cross_entropy(logits, targets) == value
    assert not gradient[1].any()


def test_even_a_forbidden_first_token_has_no_influence_where_it_is_ignored(rng):
    """Token 0 stands in for an ignored target; its -inf must not reach the sum."""
    logits, targets = rng.normal(size=(2, 4)), np.array([1, -100])
    expected = ops.cross_entropy(logits, targets)
    logits[1, 0] = -np.inf
    value, (gradient,) = weighted_gradients(
        lambda x: ops.cross_entropy(x, targets), np.ones(()), logits
    )
    assert value == expected
    assert np.isfinite(gradient).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_batch_in_which_all_is_ignored_costs_nothing(dtype, rng):
    logits, targets = rng.normal(size=(2, 3, 4)).astype(dtype), np.full((2, 3), -100)
    value, (gradient,) = weighted_gradients(
        lambda x: ops.cross_entropy(x, targets), np.ones((), dtype), logits
    )
    assert value == 0
    assert not gradient.any()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_huge_logits_agree_with_torch(dtype, rng, torch):
    logits = rng.choice([-1e4, 0.0, 1e4], size=(6, 5)) + rng.normal(size=(6, 5))
    targets = np.array([0, 1, 2, 3, 4, 0])
    check_against_torch(
        lambda x: ops.cross_entropy(x, targets),
        lambda x: torch.nn.functional.cross_entropy(x, torch.from_numpy(targets)),
        logits,
        dtype=dtype,
    )


def test_a_forbidden_token_costs_nothing_where_it_is_not_the_target(rng):
    logits, targets = rng.normal(size=(3, 4)), np.array([1, 2, 3])
    logits[:, 0] = -np.inf
    np.testing.assert_allclose(
        ops.cross_entropy(logits, targets), ops.cross_entropy(logits[:, 1:], targets - 1), 1e-14
    )
    check_gradient(lambda x: ops.cross_entropy(x, targets), logits)


def test_the_incoming_gradient_scales_the_outgoing(rng):
    logits, targets = rng.normal(size=(3, 4)), np.array([1, 2, 3])
    gradients = [
        weighted_gradients(lambda x: ops.cross_entropy(x, targets), np.array(factor), logits)[1][0]
        for factor in (1.0, -2.5)
    ]
    np.testing.assert_allclose(gradients[1], -2.5 * gradients[0], 1e-14)


@pytest.mark.parametrize("stranger", [-1, 4])
def test_a_target_outside_the_vocabulary_is_refused(stranger, rng):
    """NumPy would count a negative one from the end, and the model would learn that token."""
    with pytest.raises((ValueError, IndexError), match=str(stranger)):
        ops.cross_entropy(rng.normal(size=(2, 4)), np.array([0, stranger]))


@pytest.mark.parametrize(
    "targets", [np.zeros((3, 2), int), np.zeros(6, int), np.zeros(()), np.zeros((2, 3))]
)
def test_targets_of_another_shape_or_type_are_refused(targets, rng):
    """As many numbers in another order would be learned from without a word."""
    with pytest.raises(ShapeError, match=r"shape \(2, 3\); got"):
        numpy_engine.cross_entropy(rng.normal(size=(2, 3, 4)), targets)
