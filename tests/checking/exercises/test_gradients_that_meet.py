"""The exercises on a tied table and on back-propagation in chunks."""

import numpy as np
import torch

from checking.trying import verdict_of
from clearformer.checking.exercises import tied_gradient, truncated_bptt

TIED, TRUNCATED = tied_gradient.EXERCISE, truncated_bptt.EXERCISE


def tied_by_autograd(table, ids, d_inputs, hidden, d_logits):
    table, hidden = torch.as_tensor(table).clone().requires_grad_(), torch.as_tensor(hidden)
    inputs, logits = table[torch.as_tensor(ids)], hidden @ table.T
    one, other = (inputs * torch.as_tensor(d_inputs)), (logits * torch.as_tensor(d_logits))
    return torch.autograd.grad(one.sum() + other.sum(), table)[0]


def chunks_by_autograd(X, h0, W_xh, W_hh, chunk):
    """With a backward at the end of each chunk, as in training."""
    X, h, *weights = (torch.as_tensor(each) for each in (X, h0, W_xh, W_hh))
    W_xh, W_hh = (each.clone().requires_grad_() for each in weights)
    for part in X.split(chunk):
        loss, h = 0, h.detach()
        for x in part:
            h = torch.tanh(x @ W_xh + h @ W_hh)
            loss = loss + h.sum()
        loss.backward()
    return W_xh.grad, W_hh.grad


def test_the_references_are_pytorchs_gradients(rng):
    for lead in ((5,), (2, 3)):
        given = rng.normal(size=(7, 4)), rng.integers(0, 7, lead), rng.normal(size=(*lead, 4))
        given += rng.normal(size=(*lead, 4)), rng.normal(size=(*lead, 7))
        assert np.allclose(TIED.version()(*given), tied_by_autograd(*given).numpy(), 1e-10)
    given = rng.normal(size=(8, 3)), rng.normal(size=4), rng.normal(size=(3, 4))
    given += (rng.normal(size=(4, 4)),)
    for chunk in (1, 3, 4, 8, 20):
        mine, theirs = TRUNCATED.version()(*given, chunk), chunks_by_autograd(*given, chunk)
        for one, other in zip(mine, theirs, strict=True):
            assert np.allclose(one, other.numpy(), 1e-9)


def by_one_hot(table, ids, d_inputs, hidden, d_logits):
    return np.eye(len(table))[ids].T @ d_inputs + np.einsum("tv,tc->vc", d_logits, hidden)


def test_right_answers_in_other_styles_are_right():
    for answer, exercise in (
        (by_one_hot, TIED),
        (tied_by_autograd, TIED),
        (chunks_by_autograd, TRUNCATED),
    ):
        verdict = verdict_of(answer, exercise)
        assert (verdict.kind, verdict.mistakes) == ("right", []), answer.__name__


def test_a_forgotten_detach_gets_its_name():
    def whole(X, h0, W_xh, W_hh, chunk):
        return chunks_by_autograd(X, h0, W_xh, W_hh, len(X))

    assert verdict_of(whole, TRUNCATED).mistakes == ["rnn-no-detach"]


def test_what_is_wrong_in_no_known_way_gets_no_name():
    def shorter(X, h0, W_xh, W_hh, chunk):
        return chunks_by_autograd(X, h0, W_xh, W_hh, max(chunk - 1, 1))

    for answer, exercise in ((shorter, TRUNCATED), (lambda *a: 3 * by_one_hot(*a), TIED)):
        verdict = verdict_of(answer, exercise)
        assert (verdict.kind, verdict.mistakes) == ("wrong", [])
