"""The exercise on the gradient of cross-entropy."""

import numpy as np
import torch
from torch.nn import functional

from checking.trying import verdict_of
from clearformer.checking.exercises.cross_entropy_gradient import EXERCISE


def through_torch(logits, targets):
    leaf = torch.as_tensor(logits).clone().requires_grad_()
    functional.cross_entropy(leaf.flatten(0, -2), torch.as_tensor(targets).flatten()).backward()
    return leaf.grad


def test_the_reference_is_pytorchs_gradient(rng):
    for lead in ((5,), (2, 3)):
        logits, targets = rng.normal(0, 3, (*lead, 7)), rng.integers(0, 7, lead)
        theirs = through_torch(logits, targets).numpy()
        assert np.allclose(EXERCISE.version()(logits, targets), theirs, 1e-12)


def by_place(logits, targets):
    p = np.exp(logits - logits.max(1, keepdims=True))
    p /= p.sum(1, keepdims=True)
    p[range(len(targets)), targets] -= 1
    return p / len(targets)


def by_differences(logits, targets):
    def loss(z):
        return (
            np.log(np.exp(z - z.max(1)[:, None]).sum(1)) + z.max(1) - z[range(len(z)), targets]
        ).mean()

    found = np.zeros_like(logits)
    for place in np.ndindex(logits.shape):
        step = np.zeros_like(logits)
        step[place] = 1e-4
        found[place] = (loss(logits + step) - loss(logits - step)) / 2e-4
    return found


def test_right_answers_in_other_styles_are_right():
    for answer in (by_place, by_differences, through_torch):
        verdict = verdict_of(answer, EXERCISE)
        assert (verdict.kind, verdict.mistakes) == ("right", []), answer.__name__


def test_what_is_wrong_in_no_known_way_gets_no_name():
    for answer in (lambda *given: 0.7 * by_place(*given), lambda *given: by_place(*given) ** 2):
        verdict = verdict_of(answer, EXERCISE)
        assert (verdict.kind, verdict.mistakes) == ("wrong", [])
