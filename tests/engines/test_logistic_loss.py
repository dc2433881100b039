"""The loss of yes-or-no questions: nats per question."""

import numpy as np
import pytest

from clearformer import ops
from clearformer.errors import ShapeError
from engines.runners import every_engine
from engines.test_extremes import EXTREMES, check_extremes


@every_engine
def test_who_knows_nothing_pays_the_logarithm_of_two(by):
    targets = np.array([True, False, True])
    loss = by.value(lambda x: ops.logistic_loss(x, targets), np.zeros(3))
    np.testing.assert_allclose(loss, np.log(2), 1e-14)


@every_engine
def test_it_is_the_objective_of_negative_sampling(by, rng):
    """Equation 4 of Mikolov et al. (2013): log σ(right · centre) + Σ log σ(-wrong · centre)."""
    centre, right, wrong = rng.normal(size=5), rng.normal(size=5), rng.normal(size=(3, 5))

    def sigma(x):
        return 1 / (1 + np.exp(-x))

    expected = np.log(sigma(right @ centre)) + np.log(sigma(-(wrong @ centre))).sum()
    logits = np.concatenate([[right @ centre], wrong @ centre])
    targets = np.array([True, False, False, False])
    loss = by.value(lambda x: ops.logistic_loss(x, targets), logits)
    np.testing.assert_allclose(-len(logits) * loss, expected, 1e-13)


@every_engine
def test_a_whole_weight_counts_as_often(by, rng):
    logits, targets = rng.normal(size=4), np.array([True, False, True, False])
    times = np.array([2, 1, 0, 3])
    weighted = by.value(lambda x: ops.logistic_loss(x, targets, times.astype(float)), logits)
    repeated = by.value(lambda x: ops.logistic_loss(x, targets.repeat(times)), logits.repeat(times))
    np.testing.assert_allclose(weighted, repeated, 1e-14)


@every_engine
def test_what_weighs_nothing_has_no_influence_even_where_it_is_infinite(by, rng):
    logits, targets = rng.normal(size=3), np.array([True, False, True])
    weights = np.array([1.0, 1.0, 0.0])

    def loss(x):
        return ops.logistic_loss(x, targets, weights)

    expected = by.value(loss, logits)
    logits[2] = -np.inf
    value, (gradient,) = by.gradients(loss, np.ones(()), logits)
    assert value == expected
    assert gradient[2] == 0
    assert np.isfinite(gradient).all()


@every_engine
@pytest.mark.parametrize("answer", [True, False])
def test_extremes_are_straight_far_away(by, answer):
    """A share of the extremes: the sum over all of them is beyond float32."""
    logits = EXTREMES[abs(EXTREMES) < 1e37]
    check_extremes(by, lambda x: ops.logistic_loss(x, np.full(x.shape, answer)), logits)


@every_engine
@pytest.mark.parametrize(
    ("targets", "weights", "told"),
    [
        (np.zeros(3, bool), None, r"targets must be True or False .* \(2,\); got bool .*\(3,\)"),
        (np.zeros(2), None, r"targets must be True or False .* got float64"),
        (np.zeros(2, bool), np.ones(1), r"weights must be one for each logit.* got \(1,\)"),
    ],
)
def test_answers_of_another_shape_or_type_are_refused(by, targets, weights, told):
    from clearformer.engines.dispatch import engine_of

    with pytest.raises(ShapeError, match=told):
        by.value(lambda x: engine_of(x).logistic_loss(x, targets, weights), np.zeros(2))
