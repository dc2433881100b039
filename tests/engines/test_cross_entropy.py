"""The loss: nats per counted token."""

import numpy as np
import pytest

from clearformer import ops
from clearformer.engines.dispatch import engine_of
from clearformer.errors import ShapeError
from engines.proofs import check_against_torch, check_gradient
from engines.runners import ByNumPy, ByPyTorch, every_engine


def cross_entropy(by: ByNumPy | ByPyTorch, logits: np.ndarray, targets: np.ndarray) -> np.ndarray:
    return by.value(lambda x: ops.cross_entropy(x, targets), logits)


@every_engine
@pytest.mark.parametrize("vocab", [1, 2, 65, 1000, 70_000])
@pytest.mark.parametrize("level", [0.0, -50.0, 1e4])
def test_who_knows_nothing_pays_the_logarithm_of_the_vocabulary(by, vocab, level):
    logits = np.full((3, vocab), level)
    loss = cross_entropy(by, logits, np.zeros(3, int))
    np.testing.assert_allclose(loss, np.log(vocab), 1e-12, 1e-12)


@every_engine
def test_the_loss_is_the_mean_over_counted_positions_only(by, rng):
    logits, targets = rng.normal(size=(5, 7)), np.array([1, -100, 6, -100, 0])
    counted = targets != -100
    np.testing.assert_allclose(
        cross_entropy(by, logits, targets),
        cross_entropy(by, logits[counted], targets[counted]),
        1e-14,
    )


@every_engine
def test_what_is_ignored_has_no_influence_and_gradient_zero(by, rng):
    logits, targets = rng.normal(size=(3, 4)), np.array([1, -100, 2])
    value, (gradient,) = by.gradients(lambda x: ops.cross_entropy(x, targets), np.ones(()), logits)
    logits[1] = 1e4 * rng.normal(size=4)
    assert cross_entropy(by, logits, targets) == value
    assert not gradient[1].any()


@every_engine
def test_even_a_forbidden_first_token_has_no_influence_where_it_is_ignored(by, rng):
    """Token 0 stands in for an ignored target; its -inf must not reach the sum."""
    logits, targets = rng.normal(size=(2, 4)), np.array([1, -100])
    expected = cross_entropy(by, logits, targets)
    logits[1, 0] = -np.inf
    value, (gradient,) = by.gradients(lambda x: ops.cross_entropy(x, targets), np.ones(()), logits)
    assert value == expected
    assert np.isfinite(gradient).all()


@every_engine
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_batch_in_which_all_is_ignored_costs_nothing(by, dtype, rng):
    logits, targets = rng.normal(size=(2, 3, 4)).astype(dtype), np.full((2, 3), -100)
    value, (gradient,) = by.gradients(
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


@every_engine
def test_a_forbidden_token_costs_nothing_where_it_is_not_the_target(by, rng):
    logits, targets = rng.normal(size=(3, 4)), np.array([1, 2, 3])
    logits[:, 0] = -np.inf
    expected = cross_entropy(by, logits[:, 1:], targets - 1)
    np.testing.assert_allclose(cross_entropy(by, logits, targets), expected, 1e-14)
    check_gradient(lambda x: ops.cross_entropy(x, targets), logits, by=by)


@every_engine
def test_the_incoming_gradient_scales_the_outgoing(by, rng):
    logits, targets = rng.normal(size=(3, 4)), np.array([1, 2, 3])
    gradients = [
        by.gradients(lambda x: ops.cross_entropy(x, targets), np.array(factor), logits)[1][0]
        for factor in (1.0, -2.5)
    ]
    np.testing.assert_allclose(gradients[1], -2.5 * gradients[0], 1e-14)


@every_engine
@pytest.mark.parametrize("stranger", [-1, 4])
def test_a_target_outside_the_vocabulary_is_refused(by, stranger, rng):
    """NumPy would count a negative one from the end, and the model would learn that token."""
    with pytest.raises(ShapeError, match=rf"0 … 3, or -100 .* got .*{stranger}"):
        cross_entropy(by, rng.normal(size=(2, 4)), np.array([0, stranger]))


@every_engine
def test_what_is_ignored_is_not_named_among_the_targets_outside(by, rng):
    with pytest.raises(ShapeError, match=r"got 4 … 5"):
        cross_entropy(by, rng.normal(size=(3, 4)), np.array([5, -100, 4]))


@every_engine
@pytest.mark.parametrize(
    "targets", [np.zeros((3, 2), int), np.zeros(6, int), np.zeros(()), np.zeros((2, 3))]
)
def test_targets_of_another_shape_or_type_are_refused(by, targets, rng):
    """As many numbers in another order would be learned from without a word."""
    with pytest.raises(ShapeError, match=r"shape \(2, 3\); got"):
        by.value(lambda x: engine_of(x).cross_entropy(x, targets), rng.normal(size=(2, 3, 4)))
