"""One step of Adam."""

from collections.abc import Sequence
from typing import Any

from clearformer.checking.exercise import Exercise, Mistake
from clearformer.checking.families.moments import (
    EPSILONS,
    FIRST,
    LINE,
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
) -> Any:
    """New weights w - lr m̂ / (√v̂ + ε), and the new m and v."""
    move, *means = direction(step, m, v, g, t, (beta1, beta2), eps)
    return step.moved(w, move, lr), *step.state(*means)


def probes() -> Sequence[Probe]:
    """The first step, a later one, one where no correction is left; gradients of 1e-8; other β."""
    return (
        Probe(FIRST, {**fresh(1, 4, 3), "t": 1, "lr": 0.1}),
        Probe("step 7", {**begun(5, 5), "t": 7, "lr": 0.1}),
        Probe("step 1,000", {**begun(9, 3, 4), "t": 1000}),
        Probe("tiny gradients", {**fresh(13, 6, spread=1e-8), "t": 1, "lr": 0.1}),
        Probe(
            "other numbers",
            {**begun(17, 4), "t": 3, "lr": 0.2, "beta1": 0.8, "beta2": 0.95, "eps": 0.1},
        ),
    )


SYNONYMS = {
    "lr": ("learning_rate", "alpha", "eta", "step_size"),
    "beta1": ("beta_1", "b1"),
    "beta2": ("beta_2", "b2"),
    "eps": ("epsilon", "e"),
}

EXERCISE = Exercise(
    name="adam_step",
    title=Words("One step of Adam", "Adam の 1 ステップ"),
    task=Words(
        "Move weights w against their gradient g, each by about lr whatever the size of g:\n"
        "m ← β1 m + (1 − β1) g, v ← β2 v + (1 − β2) g², m̂ = m / (1 − β1ᵗ), v̂ = v / (1 − β2ᵗ),\n"
        "w ← w − lr m̂ / (√v̂ + ε).  ε is added to the root, after the correction.\n"
        "w, g, m, v: arrays of one shape. t: number of this step, from 1.\n"
        "Returns: (w, m, v), the new ones; w, m and v may be written into.",
        "勾配 g と逆向きに重み w を動かします。g の大きさによらず、およそ lr ずつ動きます。\n"
        "m ← β1 m + (1 − β1) g、v ← β2 v + (1 − β2) g²、m̂ = m / (1 − β1ᵗ)、v̂ = v / (1 − β2ᵗ)、\n"
        "w ← w − lr m̂ / (√v̂ + ε)。ε は補正後の根号の外に足します。\n"
        "w, g, m, v: 同じ形の配列。t: このステップの番号 (1 から)。\n"
        "返り値: 新しい (w, m, v)。w, m, v は書き換えても構いません。",
    ),
    right=right,
    steps={**STEPS, "moved": lambda w, move, lr: w - lr * move},
    probes=probes,
    mistakes=(
        *MOMENT_SLIPS,
        Mistake(
            "adam-ascent",
            {"moved": lambda w, move, lr: w + lr * move},
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
    variants=EPSILONS,
    returns=("w", "m", "v"),
    synonyms=SYNONYMS,
    may_change=("w", "m", "v"),
)
