"""The exercises on the losses of single tokens and on padding: loss and perplexity."""

import numpy as np
import pytest
import torch
from torch.nn import functional

from checking.trying import verdict_of
from clearformer import ops
from clearformer.checking.exercises import padded_cross_entropy, perplexity, token_losses

LOSS, PERPLEXITY, EACH = (
    each.EXERCISE for each in (padded_cross_entropy, perplexity, token_losses)
)


def _log_softmax(logits):
    low = logits - logits.max(-1, keepdims=True)
    return low - np.log(np.exp(low).sum(-1, keepdims=True))


def test_the_references_are_the_librarys_own_loss(rng):
    logits, targets = rng.normal(0, 3, (4, 5, 7)), rng.integers(0, 7, (4, 5))
    for pad_id in (0, 3):
        theirs = float(np.asarray(ops.cross_entropy(logits, targets, ignore=pad_id)))
        assert LOSS.version()(logits, targets, pad_id) == pytest.approx(theirs, 1e-12)
        assert PERPLEXITY.version()(logits, targets, pad_id) == pytest.approx(np.exp(theirs), 1e-12)
    each = EACH.version()(logits, targets)
    assert each.mean() == pytest.approx(float(np.asarray(ops.cross_entropy(logits, targets))))


def one_row(logits, targets, pad_id):
    kept = targets != pad_id
    return -_log_softmax(logits)[np.arange(len(targets)), targets][kept].mean()


def three_axes(logits, targets, pad_id):
    batch, seq, _ = logits.shape
    place = np.arange(batch)[:, None], np.arange(seq)[None], targets
    kept = (targets != pad_id) * 1.0
    return -(_log_softmax(logits)[place] * kept).sum() / kept.sum()


def in_torch(logits, targets, pad_id):
    flat = torch.as_tensor(logits).flatten(0, -2), torch.as_tensor(targets).flatten()
    return functional.cross_entropy(*flat, ignore_index=pad_id)


@pytest.mark.parametrize("answer", (one_row, three_axes, in_torch))
def test_right_answers_in_other_styles_are_right(answer):
    power = torch.exp if answer is in_torch else np.exp
    for exercise, function in ((LOSS, answer), (PERPLEXITY, lambda *given: power(answer(*given)))):
        verdict = verdict_of(function, exercise)
        assert (verdict.kind, verdict.mistakes) == ("right", [])


def test_averages_of_averages_are_seen_whoever_takes_one_row_or_several():
    def by_sentence(logits, targets, pad_id):
        losses = -np.take_along_axis(_log_softmax(logits), targets[..., None], -1)[..., 0]
        kept = targets != pad_id
        return np.exp(((losses * kept).sum(-1) / kept.sum(-1)).mean())

    def only_several(logits, targets, pad_id):
        assert logits.ndim == 3
        return by_sentence(logits, targets, pad_id)

    for answer in (by_sentence, only_several):
        assert verdict_of(answer, PERPLEXITY).mistakes == ["ppl-mean-of-means"]


def test_a_loop_that_takes_one_axis_at_most_is_told_so():
    def each(logits, targets):
        if logits.ndim == 1:
            return np.logaddexp.reduce(logits) - logits[targets]
        return np.array(
            [np.logaddexp.reduce(a) - a[b] for a, b in zip(logits, targets, strict=True)]
        )

    assert verdict_of(each, EACH).mistakes == ["ce-no-batch"]
    assert verdict_of(np.vectorize(each, signature="(v),()->()"), EACH).kind == "right"


def test_what_is_wrong_in_no_known_way_gets_no_name():
    for answer in (lambda *a: 1.1 * one_row(*a), lambda *a: one_row(a[0] / 2, *a[1:])):
        for exercise in (LOSS, PERPLEXITY):
            verdict = verdict_of(answer, exercise)
            assert (verdict.kind, verdict.mistakes) == ("wrong", [])
