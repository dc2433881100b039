"""Attention over texts of different length, several heads at once: padding is never looked at."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from clearformer.checking.exercise import Exercise
from clearformer.checking.families.heading import merge
from clearformer.checking.families.masking import MASK_TIES, kept
from clearformer.checking.families.padding import EMPTY, FILLING, PADDING, emptied, hidden
from clearformer.checking.families.projecting import PROJECTING, mixed, products, slips_in
from clearformer.checking.families.scaling import (
    SCALE_AFTER,
    SCALE_TIES,
    SCALING,
    scaled,
    unscaled,
)
from clearformer.checking.families.softmaxing import SOFTMAXING, softmax
from clearformer.checking.probe import Probe, normal
from clearformer.checking.words import Words


def right(step: Any, Q: Any, K: Any, V: Any, lengths: Any) -> Any:
    """softmax(Q Kᵀ / √d, all keys from the length on hidden) V."""
    told = lengths, K, V
    scores = step.scaled(step.products(Q, K), Q, merge(Q))
    weights = step.hidden_after(step.weights(step.hidden(scores, *told)), *told)
    weights = step.scaled_after(step.empty(weights, lengths, scores), Q)
    return step.mixed(weights, V)


def _given(
    seed: int, lengths: Sequence[int], heads: int, queries: int, keys: int, d: int, d_v: int
) -> dict[str, Any]:
    """Random queries, keys and values; what stands at the padding is as large as the rest."""
    B = len(lengths)
    K = normal(seed + 1, B, heads, keys, d, scale=1.3)
    K[0, :, 1] = np.round(8 * K[0, :, 1]) / 8
    K[0, :, 1, 0] -= K[0, :, 1].sum(-1)  # a real token that adds up to 0, without rounding
    return {
        "Q": normal(seed, B, heads, queries, d, scale=1.3),
        "K": K,
        "V": normal(seed + 2, B, heads, keys, d_v),
        "lengths": np.array(lengths),
    }


def probes() -> Sequence[Probe]:
    """Fewer queries than keys, more, as many, and one alone; texts of several lengths."""
    weights = _given(61, (4, 5, 3), 2, 5, 5, 3, 5)
    weights["V"] = np.broadcast_to(np.eye(5), (3, 2, 5, 5)).copy()
    zeros = _given(51, (2, 5), 3, 4, 5, 3, 4)
    for name in ("K", "V"):
        zeros[name][0, :, 2:] = 0.0
        zeros[name][1, :, 1] = 0.0
    large = _given(71, (1, 5), 3, 4, 5, 3, 4)
    return (
        Probe("2 texts, 3 heads, 4 queries, 5 keys", _given(11, (3, 5), 3, 4, 5, 6, 7)),
        Probe("as many queries as keys", _given(21, (4, 2, 6), 2, 6, 6, 3, 5)),
        Probe("more queries than keys", _given(31, (4, 3), 3, 7, 4, 5, 3)),
        Probe("one query", _given(41, (3, 5, 4), 2, 1, 6, 4, 5)),
        Probe("padding of zeros", zeros),
        Probe("weights of 5 tokens", weights),
        Probe("weights, all seen", {**weights, "lengths": np.array([5, 5, 5])}),
        Probe(
            "scores of 1,000",
            {**large, "Q": 700 * large["Q"]},
            role="stress",
            says=Words("scores of 1,000", "1,000 ほどのスコア"),
        ),
        Probe(
            "an empty text",
            _given(81, (3, 0, 4), 2, 3, 4, 5, 3),
            role="stress",
            says=Words("a text without any token", "トークンが 1 つもない文"),
        ),
    )


CRASHING = "scores-elementwise", "softmax-keepdims"
"""Slips that never give a result here."""

EXERCISE = Exercise(
    name="attention_with_lengths",
    title=Words("Attention with padding", "パディング付きのアテンション"),
    task=Words(
        "Texts of different length share one table; behind the end of a text stands padding.\n"
        "softmax(Q Kᵀ / √d) V for each text b and head, the keys from lengths[b] on hidden.\n"
        "Q: (B, H, T, d), K: (B, H, S, d), V: (B, H, S, d_v). lengths: (B,), whole, up to S; "
        "queries are all real, and there is no causal mask. Returns: (B, H, T, d_v). "
        "Where lengths[b] is 0 the output should be 0.",
        "長さの違う文を 1 つの表に入れ、文の終わりより後ろをパディングで埋めます。"
        "文 b のヘッドごとに softmax(Q Kᵀ / √d) V を求め、lengths[b] 以降のキーを隠します。\n"
        "Q: (B, H, T, d)、K: (B, H, S, d)、V: (B, H, S, d_v)。lengths: (B,) の S 以下の整数。"
        "クエリはすべて本物で、因果マスクはありません。返り値: (B, H, T, d_v)。"
        "lengths[b] が 0 の文の出力は 0 にします。",
    ),
    right=right,
    steps={
        "products": products,
        "scaled": scaled,
        "hidden": hidden,
        "weights": softmax,
        "hidden_after": kept,
        "empty": emptied,
        "scaled_after": unscaled,
        "mixed": mixed,
    },
    probes=probes,
    mistakes=(
        *PADDING,
        *FILLING,
        *(each for each in slips_in(PROJECTING, "products", "mixed") if each.key not in CRASHING),
        *SCALING,
        SCALE_AFTER,
        *(each for each in SOFTMAXING if each.key not in CRASHING),
        *EMPTY,
    ),
    ties=(*SCALE_TIES, *MASK_TIES),
    unrepeatable="dropout-in-eval",
)
