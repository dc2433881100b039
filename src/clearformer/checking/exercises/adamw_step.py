"""One step of AdamW: Adam with weight decay beside it."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from clearformer.checking.exercise import Case, Exercise, Mistake, Variant
from clearformer.checking.exercises.adam_step import SYNONYMS
from clearformer.checking.families.moments import (
    EPSILONS,
    FIRST,
    MOMENT_SLIPS,
    STEPS,
    begun,
    direction,
    fresh,
)
from clearformer.checking.probe import Probe
from clearformer.checking.words import Words


def right(
    step: Any,
    w: Any,
    g: Any,
    m: Any,
    v: Any,
    t: Any,
    lr: Any = 1e-3,
    beta1: Any = 0.9,
    beta2: Any = 0.999,
    eps: Any = 1e-8,
    weight_decay: Any = 0.01,
) -> Any:
    """New weights w - lr (m̂ / (√v̂ + ε) + weight_decay w), and the new m and v."""
    g = step.gradient(g, w, weight_decay)
    move, *means = direction(step, m, v, g, t, (beta1, beta2), eps)
    return step.moved(w, move, lr, weight_decay), *step.state(*means)


def moved(w: Any, move: Any, lr: Any, decay: Any) -> Any:
    """Each weight shrinks by the same share, whatever its gradient."""
    return w - lr * (move + decay * w)


def probes() -> Sequence[Probe]:
    """As for Adam, with much decay; once no gradient at all, so that only the decay is left."""
    still = {**fresh(21, 5), "g": np.zeros(5)}
    return (
        Probe(FIRST, {**fresh(1, 4, 3), "t": 1, "lr": 0.1, "weight_decay": 0.1}),
        Probe("step 7", {**begun(5, 5), "t": 7, "lr": 0.1, "weight_decay": 0.2}),
        Probe("step 1,000", {**begun(9, 3, 4), "t": 1000}),
        Probe("no gradient", {**still, "t": 1, "lr": 0.1, "weight_decay": 0.5}),
        Probe("tiny gradients", {**fresh(13, 6, spread=1e-8), "t": 1, "lr": 0.1}),
        Probe(
            "other numbers",
            {
                **begun(17, 4),
                "t": 3,
                "lr": 0.2,
                "beta1": 0.8,
                "beta2": 0.95,
                "eps": 0.1,
                "weight_decay": 0.3,
            },
        ),
    )


def _shrunk(cases: Mapping[str, Case]) -> Words | None:
    case = cases["no gradient"]
    mine = case.mine["w"] / case.probe.arguments["w"]
    low, high = float(mine.min()), float(mine.max())
    return Words(
        f"without a gradient weights become {low:.3f} to {high:.3f} of what they were, not 0.950.",
        f"勾配が 0 のとき重みは元の {low:.3f}〜{high:.3f} 倍です。正しくは 0.950 倍。",
    )


BESIDE = Words(
    "decay through m and v is divided by √v̂: weights with large gradients hardly shrink.",
    "減衰が √v̂ で割られ、勾配の大きい重みほど縮まなくなります。",
)
SHRINK = Words(
    "with g = 0, by which factor should each weight shrink?",
    "g = 0 のとき、各重みは何倍に縮むはずですか。",
)
OUTSIDE = Words(
    "leave g as it is; shrink w itself by lr · weight_decay.",
    "g はそのままにし、w 自身を lr · weight_decay の割合で縮めてください。",
)
LINE = "w = w - lr * (m_hat / (np.sqrt(v_hat) + eps) + weight_decay * w)"


def _decay(key: str, change: Mapping[str, Any], found: Words, why: Words = BESIDE) -> Mistake:
    return Mistake(key, change, found, why, SHRINK, OUTSIDE, LINE, _shrunk)


SMALL = Words(
    "decay should pull all weights towards 0 a little.", "減衰はすべての重みを少し 0 に近づけます。"
)

EXERCISE = Exercise(
    name="adamw_step",
    title=Words("One step of AdamW", "AdamW の 1 ステップ"),
    task=Words(
        "Adam with weight decay that does not go through m and v:\n"
        "m ← β1 m + (1 − β1) g, v ← β2 v + (1 − β2) g², m̂ = m / (1 − β1ᵗ), v̂ = v / (1 − β2ᵗ),\n"
        "w ← w − lr (m̂ / (√v̂ + ε) + weight_decay · w), with the w from before the step.\n"
        "w, g, m, v: arrays of one shape. t: number of this step, from 1.\n"
        "Returns: (w, m, v), the new ones; w, m and v may be written into.",
        "重み減衰を m と v に通さない Adam です。\n"
        "m ← β1 m + (1 − β1) g、v ← β2 v + (1 − β2) g²、m̂ = m / (1 − β1ᵗ)、v̂ = v / (1 − β2ᵗ)、\n"
        "w ← w − lr (m̂ / (√v̂ + ε) + weight_decay · w)。右辺の w は更新前のものです。\n"
        "w, g, m, v: 同じ形の配列。t: このステップの番号 (1 から)。\n"
        "返り値: 新しい (w, m, v)。w, m, v は書き換えても構いません。",
    ),
    right=right,
    steps={**STEPS, "gradient": lambda g, w, decay: g, "moved": moved},
    probes=probes,
    mistakes=(
        *MOMENT_SLIPS,
        _decay(
            "adam-l2",
            {
                "gradient": lambda g, w, decay: g + decay * w,
                "moved": lambda w, move, lr, decay: w - lr * move,
            },
            Words(
                "the decay is added to the gradient: Adam with L2, not AdamW",
                "減衰を勾配に足しています (AdamW ではなく L2 付き Adam です)",
            ),
        ),
        _decay(
            "adamw-no-decay",
            {"moved": lambda w, move, lr, decay: w - lr * move},
            Words("weight_decay has no effect", "weight_decay が効いていません"),
            SMALL,
        ),
        _decay(
            "adamw-sign",
            {"moved": lambda w, move, lr, decay: w - lr * move + lr * decay * w},
            Words("the decay makes weights grow", "減衰で重みが大きくなっています"),
            SMALL,
        ),
        _decay(
            "adamw-twice",
            {"moved": lambda w, move, lr, decay: moved(w, move, lr, 2 * decay)},
            Words("the decay is taken twice", "減衰を 2 回かけています"),
            SMALL,
        ),
        Mistake(
            "adam-ascent",
            {"moved": lambda w, move, lr, decay: w + lr * move - lr * decay * w},
            Words(
                "the step is added: it goes up the loss, not down",
                "足しているため、損失が増える向きに動いています",
            ),
            Words("the gradient shows where the loss grows.", "勾配は損失が増える向きを指します。"),
            Words("which way does the gradient point?", "勾配はどちらを向いていますか。"),
            Words("subtract the step.", "引いてください。"),
            LINE,
        ),
    ),
    variants=(
        *EPSILONS,
        Variant(
            "adamw-order",
            {"moved": lambda w, move, lr, decay: (w - lr * move) * (1 - lr * decay)},
            Words(
                "weights decay after the step, not before; the difference is of the order lr².",
                "更新の前ではなく後で減衰させています (差は lr² 程度です)。",
            ),
        ),
        Variant(
            "adamw-decay-alone",
            {"moved": lambda w, move, lr, decay: w - lr * move - decay * w},
            Words(
                "the decay is not multiplied by lr (as in the paper); PyTorch does, and so here.",
                "減衰に lr を掛けていません (論文の形)。PyTorch とここでは掛けます。",
            ),
        ),
    ),
    returns=("w", "m", "v"),
    synonyms={**SYNONYMS, "weight_decay": ("decay", "wd", "lambda_")},
    may_change=("w", "m", "v"),
)
