"""The exercises on choosing the next token: temperature, top-k, top-p."""

import numpy as np
import pytest
import torch

from checking.trying import verdict_of
from clearformer.checking.exercises import temperature, top_k, top_p
from clearformer.generation.sampling import Sampling, probabilities

TEMPERATURE, TOP_K, TOP_P = (each.EXERCISE for each in (temperature, top_k, top_p))


def test_the_references_are_what_the_library_draws_from(rng):
    for size in (4, 9, 30):
        logits = rng.normal(0, 2, size)
        share = np.exp(logits) / np.exp(logits).sum()
        for T in (0.0, 0.3, 1.0, 2.5):
            mine = TEMPERATURE.version()(logits, T)
            assert np.allclose(mine, probabilities(logits, Sampling(T)), 1e-12)
        for k in (1, 3, size):
            mine = TOP_K.version()(logits, k)
            assert np.allclose(mine, probabilities(logits, Sampling(1.0, top_k=k)), 1e-12)
        for p in (0.2, 0.7, 1.0):
            mine = TOP_P.version()(share, p)
            assert np.allclose(mine, probabilities(logits, Sampling(1.0, top_p=p)), 1e-12)


def test_the_references_take_batch_axes(rng):
    logits = rng.normal(0, 2, (2, 3, 5))
    share = TEMPERATURE.version()(logits, 1.0)
    for version, given, number in (
        (TEMPERATURE.version(), logits, 0.0),
        (TOP_K.version(), logits, 2),
        (TOP_P.version(), share, 0.6),
    ):
        rows = [version(row, number) for row in given.reshape(-1, 5)]
        assert np.allclose(version(given, number).reshape(-1, 5), rows)


def softmax(x):
    raised = np.exp(x - np.max(x))
    return raised / np.sum(raised)


def power(logits, T):
    """The same through the probabilities: p to the power of 1/T."""
    share = softmax(logits) ** (1 / T)
    return share / share.sum()


def warm(logits, T):
    return torch.softmax(torch.as_tensor(logits) / T, dim=-1)


def by_partition(logits, k):
    result = np.zeros(len(logits))
    best = np.argpartition(logits, len(logits) - k)[-k:]
    result[best] = softmax(logits[best])
    return result


def torch_top_k(logits, k):
    values, _ = torch.topk(logits, k)
    logits = logits.masked_fill(logits < values[..., -1:], float("-inf"))
    return torch.softmax(logits, -1)


def by_loop(probs, p):
    result, total = np.zeros_like(probs), 0.0
    for place in sorted(range(len(probs)), key=lambda place: probs[place], reverse=True):
        result[place] = probs[place]
        total += probs[place]
        if total >= p:
            break
    return result / total


def torch_top_p(probs, p):
    """As in Hugging Face's warper: those above p are removed, moved on by one."""
    ranked, order = torch.sort(probs, descending=True)
    remove = torch.cumsum(ranked, -1) > p
    remove[..., 1:] = remove[..., :-1].clone()
    remove[..., 0] = False
    probs = probs.masked_fill(remove.scatter(-1, order, remove), 0.0)
    return probs / probs.sum(-1, keepdim=True)


def by_search(probs, p):
    order = np.argsort(probs)[::-1]
    count = np.searchsorted(np.cumsum(probs[order]), p) + 1
    result = np.zeros_like(probs)
    result[order[:count]] = probs[order[:count]]
    return result / result.sum()


@pytest.mark.parametrize(
    ("answer", "exercise"),
    (
        (power, TEMPERATURE),
        (warm, TEMPERATURE),
        (by_partition, TOP_K),
        (torch_top_k, TOP_K),
        (by_loop, TOP_P),
        (torch_top_p, TOP_P),
        (by_search, TOP_P),
    ),
)
def test_right_answers_in_other_styles_are_right(answer, exercise):
    verdict = verdict_of(answer, exercise)
    assert verdict.kind == "right"
    assert set(verdict.mistakes) <= {"temp-zero"}


def test_nan_at_temperature_0_is_told_beside_the_verdict():
    verdict = verdict_of(lambda logits, T: softmax(logits / T), TEMPERATURE)
    assert (verdict.kind, verdict.mistakes) == ("right", ["temp-zero"])


def test_two_things_beside_one_verdict_both_get_their_name():
    def bare(logits, T):
        raised = np.exp(logits / T)
        return raised / raised.sum(-1, keepdims=True)

    verdict = verdict_of(bare, TEMPERATURE)
    assert (verdict.kind, set(verdict.mistakes)) == ("right", {"softmax-no-max", "temp-zero"})


@pytest.mark.parametrize(
    ("answer", "exercise"),
    (
        (lambda logits, T: softmax(logits / (T + 0.1)), TEMPERATURE),
        (lambda logits, T: softmax(logits - T * logits.min() * logits), TEMPERATURE),
        (lambda logits, k: softmax(np.sort(logits)) * (np.arange(len(logits)) < k), TOP_K),
        (lambda probs, p: by_loop(probs, p * 0.8), TOP_P),
        (lambda probs, p: by_loop(probs**2 / np.sum(probs**2), p), TOP_P),
    ),
)
def test_what_is_wrong_in_no_known_way_gets_no_name(answer, exercise):
    verdict = verdict_of(answer, exercise)
    assert (verdict.kind, verdict.mistakes) == ("wrong", [])
