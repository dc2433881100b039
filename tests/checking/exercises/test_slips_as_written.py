"""Common slips as a learner writes them get their names."""

import numpy as np
import pytest

from checking.trying import verdict_of
from clearformer.checking.catalogue import find

ATTENTION = find("self_attention").version()


def always_masked(X, W_Q, W_K, W_V, masked=True):
    return ATTENTION(X, W_Q, W_K, W_V)


def flag_turned_round(X, W_Q, W_K, W_V, masked=True):
    return ATTENTION(X, W_Q, W_K, W_V, not masked)


def cell_first(x, h, c, W, U, b):
    h, c = find("lstm_step").version()(x, h, c, W, U, b)
    return c, h


def cut(least):
    def top_p(probs, p):
        order = np.argsort(-probs)
        n = max(least, (np.cumsum(probs[order]) < p).sum())
        kept = np.zeros_like(probs)
        kept[order[:n]] = probs[order[:n]]
        return kept / kept.sum()

    return top_p


def searched(probs, p):
    order = np.argsort(probs)[::-1]
    n = max(1, np.searchsorted(np.cumsum(probs[order]), p))
    out = probs.copy()
    out[order[n:]] = 0
    return out / out.sum()


def by_queries(Q, K):
    return Q @ K.T / np.sqrt(len(Q))


def root_of_deviation(x, gamma, beta, eps=1e-5):
    low = x - x.mean(-1, keepdims=True)
    return gamma * low / np.sqrt(x.std(-1, keepdims=True) + eps) + beta


def feed_forward(x, W_1, b_1, W_2, b_2):
    h = x @ W_1 + b_1
    return 0.5 * h * (1 + np.tanh(np.sqrt(2 / np.pi) * h + 0.044715 * h**3)) @ W_2 + b_2


def first_sum_of_normed(x, W_1, W_2):
    def n(x):
        return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5)

    h = n(x) + n(x) @ W_1
    return h + n(h) @ W_2


SLIPS = [
    ("self_attention", always_masked, "mask-always"),
    ("self_attention", flag_turned_round, "mask-flag-inverted"),
    ("lstm_step", cell_first, "lstm-returns-swapped"),
    ("top_p", cut(0), "topp-drops-crossing"),
    ("top_p", cut(1), "topp-drops-crossing"),
    ("top_p", searched, "topp-drops-crossing"),
    ("scaled_scores", by_queries, "scale-T"),
    ("layer_norm", root_of_deviation, "ln-root-twice"),
    ("feed_forward", feed_forward, "gelu-tanh-bracket"),
    ("pre_norm_block", first_sum_of_normed, "residual-normed"),
]


@pytest.mark.filterwarnings("ignore:invalid value")
@pytest.mark.parametrize(("exercise", "answer", "key"), SLIPS)
def test_a_slip_as_it_is_written_gets_its_name(exercise, answer, key):
    verdict = verdict_of(answer, find(exercise))
    assert (verdict.kind, verdict.mistakes) == ("wrong", [key])
