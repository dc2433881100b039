"""Multi-head attention: several heads look side by side, each in its own few dimensions."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from clearformer.checking.exercise import Exercise
from clearformer.checking.families import modules
from clearformer.checking.families.heading import merge, split
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
from clearformer.checking.families.scaling import (
    SCALE_AFTER,
    SCALE_TIES,
    SCALING,
    scaled,
    unscaled,
)
from clearformer.checking.families.several_heads import HEADS, SOFTMAX_OVER_HEADS
from clearformer.checking.families.softmaxing import SOFTMAXING, softmax
from clearformer.checking.families.watching import ROW_SUMS, another_last, leak
from clearformer.checking.probe import Probe, normal
from clearformer.checking.words import Words


def right(
    step: Any,
    X: Any,
    W_Q: Any,
    W_K: Any,
    W_V: Any,
    W_O: Any,
    n_heads: Any,
    masked: Any = True,
) -> Any:
    """Concat(head_1, …, head_H) W_O, each head an attention of its own."""
    W_Q, W_K, W_V = (step.seen(each, n_heads) for each in (W_Q, W_K, W_V))
    made = step.query(X, W_Q, W_K), step.key(X, W_K, W_Q), step.value(X, W_V, W_K)
    Q, K, V = (step.split(each, n_heads) for each in made)
    scores = step.scaled(step.products(Q, K), Q, X)
    masked = step.asked(masked)
    weights = step.weights(step.hidden(scores) if masked else scores)
    weights = step.scaled_after(step.hidden_after(weights) if masked else weights, Q)
    return step.out(step.merge(step.mixed(weights, V)), W_O)


_NAMES = ("W_Q", "W_K", "W_V", "W_O")


def _given(seed: int, tokens: int, n_heads: int, width: int, **more: Any) -> dict[str, Any]:
    """Arguments that give scores a spread between 1 and 2; `width` is of one head."""
    C = n_heads * width
    weights = {
        name: normal(seed + i, C, C, scale=1.3 / np.sqrt(C)) for i, name in enumerate(_NAMES, 1)
    }
    return {"X": normal(seed, tokens, C), **weights, "n_heads": n_heads, **more}


def probes() -> Sequence[Probe]:
    """All sizes different; then pairs of them alike, where an exchange goes unseen by shape.

    With W_O the identity the heads stand side by side in the output; with X and W_V the identity
    and one head, too, the output is the table of weights.
    """
    first = Probe("5 tokens, 3 heads of 4", _given(11, 5, 3, 4))
    side_by_side = _given(41, 6, 2, 3, W_O=np.eye(6))
    one = _given(51, 5, 1, 5, X=np.eye(5), W_V=np.eye(5), W_O=np.eye(5))
    return (
        first,
        Probe("all seen, 5 heads of 3", _given(21, 4, 5, 3, masked=False)),
        Probe("4 tokens, 4 heads of 3", _given(31, 4, 4, 3)),
        Probe("heads side by side", side_by_side),
        Probe("weights of one head", one),
        Probe("weights, all seen", {**one, "masked": False}),
        Probe("9 tokens, 2 heads of 4", _given(61, 9, 2, 4)),
        Probe(
            "scores of 1,000",
            {**_given(70, 4, 2, 3), "X": normal(70, 4, 6, scale=40.0)},
            role="stress",
            says=Words("scores of 1,000", "1,000 ほどのスコア"),
        ),
        half_precision(_given(81, 4, 2, 3)),
        another_last(first),
    )


EXERCISE = Exercise(
    name="multi_head_attention",
    title=Words("Multi-head attention", "マルチヘッドアテンション"),
    task=Words(
        "Several heads look side by side. Q = X W_Q, K = X W_K, V = X W_V, each cut into H heads:\n"
        "head h takes the columns h·d to (h+1)·d − 1, d = C / H. Each head computes "
        "softmax(Q Kᵀ / √d) V, the future hidden if masked; side by side, then times W_O.\n"
        "X: (T, C), with any batch axes before them or none. All weights: (C, C). n_heads: H.\n"
        "Returns: (T, C); you may return more behind it.",
        "複数のヘッドが並行して見ます。Q = X W_Q, K = X W_K, V = X W_V を H 個に分けます:\n"
        "ヘッド h は h·d から (h+1)·d − 1 の列、d = C / H。各ヘッドで softmax(Q Kᵀ / √d) V を計算"
        "します (masked なら未来を隠します)。横に並べて W_O を掛けます。\n"
        "X: (T, C)。前にバッチの軸があっても可。重みはすべて (C, C)。n_heads: H。\n"
        "返り値: (T, C)。後ろに他のものを付けて返しても構いません。",
    ),
    right=right,
    steps={
        "seen": lambda W, n_heads: W,
        "query": project,
        "key": project,
        "value": project,
        "split": split,
        "products": products,
        "scaled": scaled,
        "asked": asked,
        "hidden": hidden,
        "weights": softmax,
        "hidden_after": kept,
        "scaled_after": unscaled,
        "mixed": mixed,
        "merge": merge,
        "out": project,
    },
    probes=probes,
    module=modules.MULTI_HEAD,
    mistakes=(
        *PROJECTING,
        *HEADS,
        *SCALING,
        SCALE_AFTER,
        *MASKING,
        *FLAG,
        HALF,
        *(each for each in SOFTMAXING if each.key != "softmax-keepdims"),
        SOFTMAX_OVER_HEADS,
    ),
    ties=(*SCALE_TIES, *MASK_TIES),
    batched=("X",),
    synonyms={"masked": ("mask", "causal", "is_causal", "use_mask")},
    clues=(leak(first="5 tokens, 3 heads of 4"), ROW_SUMS),
    unrepeatable="dropout-in-eval",
)
