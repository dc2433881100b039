"""The exercises on what happens between a gradient and the next weights."""

import numpy as np
import pytest
import torch

from checking.trying import verdict_of
from clearformer import ops
from clearformer.checking.exercises import (
    adam_step,
    adamw_step,
    clip_gradients,
    gradient_descent,
    learning_rate,
)

ADAM, ADAMW, CLIP, DESCENT, RATE = (
    each.EXERCISE
    for each in (adam_step, adamw_step, clip_gradients, gradient_descent, learning_rate)
)


@pytest.mark.parametrize(("exercise", "decay"), ((ADAM, 0.0), (ADAMW, 0.2)))
def test_adam_is_the_librarys_own_step(rng, exercise, decay):
    w, m, v = rng.normal(size=(3, 20))
    v = v**2
    settings = {"weight_decay": decay} if decay else {}
    for t in (1, 2, 30):
        g = rng.normal(size=20)
        theirs = [each.copy() for each in (w, g, m, v)]
        ops.adamw(*theirs, step=t, learning_rate=0.1, beta_2=0.99, decay=decay)
        w, m, v = exercise.version()(w, g, m, v, t, 0.1, beta2=0.99, **settings)
        for one, other in zip((w, m, v), (theirs[0], *theirs[2:]), strict=True):
            assert np.allclose(one, other, 1e-12)


def test_clipping_is_that_of_pytorch(rng):
    for size in (0.01, 10):
        grads = [size * rng.normal(size=(3, 4)), size * rng.normal(size=5)]
        leaves = [torch.zeros(each.shape, dtype=torch.float64) for each in grads]
        for leaf, grad in zip(leaves, grads, strict=True):
            leaf.grad = torch.tensor(grad)
        torch.nn.utils.clip_grad_norm_(leaves, 1.0)
        for mine, leaf in zip(CLIP.version()(grads, 1.0), leaves, strict=True):
            assert np.allclose(mine, leaf.grad.numpy(), 1e-5)


def test_the_rate_rises_to_the_peak_and_falls_with_no_step_at_0_or_twice_the_same():
    for warmup, total in ((0, 10), (3, 20), (19, 20), (20, 20)):
        rates = [RATE.version()(step, warmup, total, 0.5) for step in range(total + 2)]
        assert min(rates[:total]) > 0
        assert rates[total:] == [0, 0]
        assert len(set(rates[:total])) == total
        assert warmup == total or max(rates) == rates[warmup] == 0.5


def adam_in_place(w, g, m, v, t, lr=1e-3, beta1=0.9, beta2=0.999, eps=1e-8):
    m *= beta1
    m += (1 - beta1) * g
    v *= beta2
    v += (1 - beta2) * g * g
    w -= lr * (1 - beta2**t) ** 0.5 / (1 - beta1**t) * m / (v**0.5 + eps * (1 - beta2**t) ** 0.5)
    return w, m, v


def adam_in_torch(w, grad, m, v, step, learning_rate=1e-3, beta_1=0.9, beta_2=0.999, epsilon=1e-8):
    m = torch.lerp(grad, m, beta_1)
    v = torch.lerp(grad * grad, v, beta_2)
    m_hat, v_hat = m / (1 - beta_1**step), v / (1 - beta_2**step)
    return w - learning_rate * m_hat / (v_hat.sqrt() + epsilon), m, v


def adamw_decay_first(w, g, m, v, t, lr=1e-3, beta1=0.9, beta2=0.999, eps=1e-8, weight_decay=0.01):
    return ADAM.version()(w * (1 - lr * weight_decay), g, m, v, t, lr, beta1, beta2, eps)


def clip_flat(grads, max_norm):
    size = np.linalg.norm(np.concatenate([each.ravel() for each in grads]))
    return [each * min(1.0, max_norm / size) if size else each for each in grads]


def clip_in_place(grads, max_norm):
    size = sum(float(np.sum(np.square(each))) for each in grads) ** 0.5
    if size > max_norm:
        for each in grads:
            np.multiply(each, max_norm / size, out=each)
    return tuple(grads)


def descend_with_autograd(w, X, y, lr, steps):
    w = w.clone().requires_grad_()
    for _ in range(steps):
        ((X @ w - y) ** 2).mean().backward()
        with torch.no_grad():
            w -= lr * w.grad
        w.grad.zero_()
    return w


def rate_by_minimum(step, warmup, total, peak):
    down = (total - step) / max(total - warmup, 1)
    return peak * max(0.0, min((step + 1) / (warmup + 1), down) if step < warmup else down)


@pytest.mark.parametrize(
    ("answer", "exercise"),
    (
        (adam_in_place, ADAM),
        (adam_in_torch, ADAM),
        (adamw_decay_first, ADAMW),
        (clip_flat, CLIP),
        (clip_in_place, CLIP),
        (descend_with_autograd, DESCENT),
        (rate_by_minimum, RATE),
    ),
)
def test_right_answers_in_other_styles_are_right(answer, exercise):
    verdict = verdict_of(answer, exercise)
    assert (verdict.kind, verdict.mistakes) == ("right", [])


def test_a_forgotten_zero_grad_gets_its_name():
    def descend(w, X, y, lr, steps):
        w = w.clone().requires_grad_()
        for _ in range(steps):
            ((X @ w - y) ** 2).mean().backward()
            with torch.no_grad():
                w -= lr * w.grad
        return w.detach()

    assert verdict_of(descend, DESCENT).mistakes == ["grad-not-zeroed"]


def test_epsilon_of_pytorch_in_clipping_is_another_convention():
    def clip(grads, max_norm):
        size = np.sqrt(sum((each**2).sum() for each in grads))
        return [each * min(1, max_norm / (size + 1e-6)) for each in grads]

    verdict = verdict_of(clip, CLIP)
    assert (verdict.kind, verdict.variant.key) == ("variant", "clip-eps")


@pytest.mark.parametrize(
    ("answer", "exercise"),
    (
        (lambda w, g, m, v, t, lr=1e-3: ADAM.version()(w, g / 2, m, v, t, lr), ADAM),
        (lambda w, g, m, v, t, lr=1e-3: (w - lr * np.tanh(g), m, v), ADAM),
        (lambda grads, max_norm: [each * 0.5 for each in grads], CLIP),
        (lambda grads, max_norm: clip_flat(grads, 1.5 * max_norm), CLIP),
        (lambda w, X, y, lr, steps: w * (1 - lr) ** steps, DESCENT),
        (lambda step, warmup, total, peak: peak / (step + 1) ** 0.5, RATE),
    ),
)
def test_what_is_wrong_in_no_known_way_gets_no_name(answer, exercise):
    verdict = verdict_of(answer, exercise)
    assert (verdict.kind, verdict.mistakes) == ("wrong", [])
