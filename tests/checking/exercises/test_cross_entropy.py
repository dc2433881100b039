"""The exercise on cross-entropy."""

import numpy as np
import torch
from torch.nn import functional

from checking.trying import verdict_of
from clearformer import ops
from clearformer.checking.exercises.cross_entropy import EXERCISE


def _log_softmax(logits, axis=-1):
    low = logits - logits.max(axis=axis, keepdims=True)
    return low - np.log(np.exp(low).sum(axis=axis, keepdims=True))


def test_the_reference_is_the_librarys_own_loss(rng):
    for lead in ((5,), (2, 3), (4, 2, 3)):
        logits, targets = rng.normal(0, 3, (*lead, 7)), rng.integers(0, 7, lead)
        theirs = ops.cross_entropy(logits, targets)
        assert np.allclose(EXERCISE.version()(logits, targets), np.asarray(theirs), 1e-12)


def by_rows(logits, targets):
    """For one row of tokens only."""
    return -_log_softmax(logits, 1)[np.arange(len(targets)), targets].mean()


def by_one_hot(logits, targets):
    """Runs with batch axes, but is meant without."""
    return -(np.eye(logits.shape[1])[targets] * _log_softmax(logits, 1)).sum(axis=1).mean()


def by_loop(logits, targets):
    total = 0.0
    for row, target in zip(logits, targets, strict=True):
        total += np.logaddexp.reduce(row) - row[target]
    return total / len(targets)


def in_torch(logits, targets):
    return functional.cross_entropy(torch.from_numpy(logits), torch.from_numpy(targets)).numpy()


def anywhere(logits, targets):
    return -np.take_along_axis(_log_softmax(logits), targets[..., None], -1).mean()


def test_right_answers_in_other_styles_are_right():
    for answer in (by_rows, by_one_hot, by_loop, in_torch, anywhere):
        verdict = verdict_of(answer, EXERCISE)
        assert (verdict.kind, verdict.mistakes) == ("right", []), answer.__name__


def test_a_mistake_of_one_who_takes_no_batch_axes_gets_its_name():
    assert verdict_of(lambda *given: by_rows(*given) / np.log(2), EXERCISE).mistakes == ["ce-log2"]
    assert verdict_of(lambda *given: by_one_hot(*given) * -1, EXERCISE).mistakes == ["ce-no-minus"]


def test_what_is_wrong_in_no_known_way_gets_no_name():
    for answer in (
        lambda logits, targets: by_loop(logits, targets) + 0.1,
        lambda logits, targets: by_loop(logits / 3, targets),
        lambda logits, targets: np.median(-_log_softmax(logits)[np.arange(len(targets)), targets]),
    ):
        verdict = verdict_of(answer, EXERCISE)
        assert (verdict.kind, verdict.mistakes) == ("wrong", [])


def _shares(logits):
    raised = np.exp(logits - logits.max(-1, keepdims=True))
    return raised / raised.sum(-1, keepdims=True)


def test_a_floor_under_the_probability_is_told_beside_the_verdict_or_as_a_convention():
    def with_floor(least):
        def loss(logits, targets):
            return -np.log(_shares(logits)[np.arange(len(targets)), targets] + least).mean()

        return verdict_of(loss, EXERCISE)

    for verdict in (with_floor(0.0), with_floor(1e-9)):
        assert (verdict.kind, verdict.mistakes) == ("right", ["ce-log0"])
    verdict = with_floor(1e-7)
    assert (verdict.kind, verdict.variant.key) == ("variant", "ce-floor")


def test_an_axis_of_length_1_that_is_lost_is_told_beside_the_verdict():
    verdict = verdict_of(lambda logits, targets: by_rows(logits.squeeze(), targets), EXERCISE)
    assert (verdict.kind, verdict.mistakes) == ("right", ["ce-1d"])
