"""Right answers in odd styles to exercises that no other file of answers has."""

import math

import numpy as np
import pytest

from checking.trying import verdict_of
from clearformer.checking.catalogue import find


def positions_by_repeating(x, table):
    return x + np.tile(table[: x.shape[1]], (len(x), 1, 1))


def positions_token_by_token(x, table):
    out = np.array(x)
    for row in out:
        for t in range(len(row)):
            row[t] += table[t]
    return out


def post_norm_in_a_loop(x, W_1, W_2):
    for W in (W_1, W_2):
        x = x + np.einsum("...i,ij->...j", x, W)
        x = (x - x.mean(-1, keepdims=True)) / (x.var(-1, keepdims=True) + 1e-5) ** 0.5
    return x


def losses_by_log_sum(logits, targets):
    picked = np.take_along_axis(logits, np.asarray(targets)[..., None], -1)[..., 0]
    top = logits.max(-1)
    return top + np.log(np.exp(logits - top[..., None]).sum(-1)) - picked


def losses_row_by_row(logits, targets):
    if np.ndim(targets) == 0:
        top = max(logits)
        return math.log(sum(math.exp(z - top) for z in logits)) + top - logits[targets]
    return np.array([losses_row_by_row(z, y) for z, y in zip(logits, targets, strict=True)])


def windows_by_stride(data, block_size, fraction):
    cut = int(fraction * len(data))
    view = np.lib.stride_tricks.sliding_window_view
    return tuple(view(part, block_size).copy() for part in (data[:cut], data[cut:]))


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("add_positions", positions_by_repeating),
        ("add_positions", positions_token_by_token),
        ("post_norm_block", post_norm_in_a_loop),
        ("token_losses", losses_by_log_sum),
        ("token_losses", losses_row_by_row),
        ("split_windows", windows_by_stride),
    ],
)
def test_a_right_answer_in_an_odd_style_is_right(name, answer):
    verdict = verdict_of(answer, find(name))
    assert (verdict.kind, verdict.mistakes) == ("right", []), verdict.findings
