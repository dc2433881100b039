"""Scaled dot-product self-attention, one head."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from clearformer.checking.exercise import Exercise
from clearformer.checking.families import modules
from clearformer.checking.families.dropping import DROPPING, whole
from clearformer.checking.families.masking import (
    FLAG,
    HALF,
    MASK_TIES,
    MASKING,
    asked,
    half_precision,
    hidden,
    kept,
)
from clearformer.checking.families.projecting import PROJECTING, mixed, products, project
from clearformer.checking.families.scaling import SCALE_AFTER, SCALE_TIES, SCALING, scaled, unscaled
from clearformer.checking.families.softmaxing import SOFTMAXING, softmax
from clearformer.checking.families.watching import ROW_SUMS, another_last, leak
from clearformer.checking.probe import Probe, normal
from clearformer.checking.words import Words


def right(step: Any, X: Any, W_Q: Any, W_K: Any, W_V: Any, masked: Any = True) -> Any:
    """softmax(Q Kᵀ / √d_k, the future hidden) V."""
    Q, K, V = step.query(X, W_Q, W_K), step.key(X, W_K, W_Q), step.value(X, W_V, W_K)
    scores = step.scaled(step.products(Q, K), Q, X)
    masked = step.asked(masked)
    weights = step.weights(step.dropped(step.hidden(scores) if masked else scores))
    weights = step.scaled_after(step.hidden_after(weights) if masked else weights, Q)
    return step.mixed(weights, V)


def _weights(seed: int, C: int, d_k: int, d_v: int, scale: float = 1.0) -> dict[str, Any]:
    """Projections that give scores a spread between 1 and 2."""
    return {
        "W_Q": normal(seed, C, d_k, scale=scale * 1.3 / np.sqrt(C)),
        "W_K": normal(seed + 1, C, d_k, scale=scale * 1.3 / np.sqrt(C)),
        "W_V": normal(seed + 2, C, d_v),
    }


def probes() -> Sequence[Probe]:
    """Every axis of another length, but one square, where a transposed weight goes unseen by shape.

    With X the identity the other arguments are Q, K and V, and the output is the table of weights.
    """
    square = {name: normal(seed, 6, 6, scale=0.5) for seed, name in enumerate(_NAMES, 31)}
    shown = {"W_Q": normal(41, 5, 3), "W_K": normal(42, 5, 3), "W_V": np.eye(5)}
    first = Probe("5 tokens", {"X": normal(11, 5, 7), **_weights(12, 7, 4, 4)})  # one width for all
    return (
        first,
        Probe("6 tokens", {"X": normal(83, 6, 8), **_weights(84, 8, 3, 3)}),
        Probe("4 tokens", {"X": normal(91, 4, 7), **_weights(92, 7, 3, 5)}),
        Probe("weights of 5 tokens", {"X": np.eye(5), **shown}),
        Probe("all seen", {"X": normal(15, 4, 8), **_weights(16, 8, 5, 3), "masked": False}),
        Probe("weights, all seen", {"X": np.eye(5), **shown, "masked": False}),
        Probe("square weights", {"X": normal(21, 4, 6), **square}),
        Probe("as many tokens as width", {"X": normal(71, 4, 6), **_weights(72, 6, 4, 4)}),
        Probe("9 tokens", {"X": normal(51, 9, 6), **_weights(52, 6, 4, 5)}),
        Probe(
            "scores of 1,000",
            {"X": normal(61, 4, 6), **_weights(62, 6, 3, 5, scale=40.0)},
            role="stress",
            says=Words("scores of 1,000", "1,000 ほどのスコア"),
        ),
        half_precision({"X": normal(81, 4, 6), **_weights(82, 6, 3, 5)}),
        another_last(first),
    )


_NAMES = ("W_Q", "W_K", "W_V")

EXERCISE = Exercise(
    name="self_attention",
    title=Words("Self-attention", "セルフアテンション"),
    task=Words(
        "Each token looks at itself and at those before it, and takes a mix of their values:\n"
        "Q = X W_Q, K = X W_K, V = X W_V; softmax(Q Kᵀ / √d_k) V, the future hidden if masked.\n"
        "X: (T, C), with any batch axes before them or none. W_Q, W_K: (C, d_k). W_V: (C, d_v).\n"
        "Returns: (T, d_v); you may return the weights as well, behind it.",
        "各トークンが自分と自分より前のトークンを見て、その値を混ぜて受け取ります。\n"
        "Q = X W_Q, K = X W_K, V = X W_V; softmax(Q Kᵀ / √d_k) V。masked なら未来を隠します。\n"
        "X: (T, C)。前にバッチの軸があっても可。W_Q, W_K: (C, d_k)。W_V: (C, d_v)。\n"
        "返り値: (T, d_v)。その後ろに重みを付けて返しても構いません。",
    ),
    right=right,
    steps={
        "query": project,
        "key": project,
        "value": project,
        "products": products,
        "scaled": scaled,
        "asked": asked,
        "hidden": hidden,
        "dropped": whole,
        "weights": softmax,
        "hidden_after": kept,
        "scaled_after": unscaled,
        "mixed": mixed,
    },
    probes=probes,
    module=modules.ATTENTION,
    mistakes=(*PROJECTING, *SCALING, SCALE_AFTER, *MASKING, *FLAG, HALF, DROPPING, *SOFTMAXING),
    ties=(*SCALE_TIES, *MASK_TIES),
    batched=("X",),
    synonyms={"masked": ("mask", "causal", "is_causal", "use_mask")},
    clues=(leak(first="5 tokens"), ROW_SUMS),
    unrepeatable="dropout-in-eval",
)
