"""Some steps of gradient descent, each with a gradient of its own."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from clearformer.checking.exercise import Case, Exercise, Mistake
from clearformer.checking.probe import Probe, normal
from clearformer.checking.words import Words


def right(step: Any, w: Any, X: Any, y: Any, lr: Any, steps: Any) -> Any:
    """W after so many steps w ← w - lr ∂/∂w mean((X w - y)²)."""
    kept, start = np.zeros_like(w), w
    for _ in range(step.times(steps)):
        used, kept = step.collected(step.gradient(step.place(w, start), X, y), kept)
        w = step.moved(w, used, lr)
    return w


def gradient(w: Any, X: Any, y: Any) -> Any:
    """Of the mean of squares."""
    return 2 / len(X) * X.T @ (X @ w - y)


def probes() -> Sequence[Probe]:
    """One step, where nothing can be left over; two; several."""
    return (
        _of("2 steps", 1, 6, 3, 0.1, 2),
        _of("5 steps", 5, 7, 4, 0.05, 5),
        _of("1 step", 9, 5, 4, 0.1, 1),
        _of("4 rows of 4", 13, 4, 4, 0.1, 3),
        _of("no step", 17, 5, 3, 0.1, 0),
    )


def _of(name: str, seed: int, N: int, d: int, lr: float, steps: int) -> Probe:
    return Probe(
        name,
        {
            "w": normal(seed, d),
            "X": normal(seed + 1, N, d),
            "y": normal(seed + 2, N),
            "lr": lr,
            "steps": steps,
        },
    )


def _second(cases: Mapping[str, Case]) -> Words | None:
    one, two = cases["1 step"], cases["2 steps"]
    first = np.allclose(one.mine["w"], one.right["w"], 1e-4)
    if not first:
        return None
    size = np.linalg.norm(two.mine["w"] - two.right["w"])
    return Words(
        f"one step is right; after two your w is {size:.3g} away from the right one.",
        f"1 ステップ目は正しく、2 ステップ後には正しい w から {size:.3g} 離れています。",
    )


OWN = Words(
    "each step must follow the slope where it stands, and nothing else.",
    "どのステップも、いまいる場所の傾きだけに従わなければなりません。",
)
LEFT = Words(
    "what is left of the first step's gradient when the second begins?",
    "2 ステップ目が始まるとき、最初の勾配は残っていませんか。",
)
RESET = Words(
    "begin each step with a gradient of 0 (zero_grad), or compute it anew.",
    "各ステップの初めに勾配を 0 に戻す (zero_grad) か、新しく計算してください。",
)
ANEW = "grad = 2 / len(X) * X.T @ (X @ w - y)   # inside the loop"
BY_HAND = Words(
    "nudge one weight by 0.001: how much does the mean of squares change?",
    "重みを 1 つ 0.001 動かすと、2 乗の平均はどれだけ変わりますか。",
)
SLOPE = Words(
    "the gradient of mean((X w − y)²) is 2/N Xᵀ (X w − y).",
    "mean((X w − y)²) の勾配は 2/N Xᵀ (X w − y) です。",
)
HOW_MANY = Words("how often is w changed in your code?", "w は何回変わりますか。")


def _collected(key: str, step: Any, found: Words) -> Mistake:
    return Mistake(key, {"collected": step}, found, OWN, LEFT, RESET, ANEW, _second)


def _gradient(key: str, step: Any, found: Words) -> Mistake:
    return Mistake(key, {"gradient": step}, found, OWN, BY_HAND, SLOPE, ANEW)


def _times(key: str, step: Any, found: Words) -> Mistake:
    fix = Words("take exactly `steps` steps.", "ちょうど steps 回動かしてください。")
    return Mistake(key, {"times": step}, found, OWN, HOW_MANY, fix, "for _ in range(steps):")


EXERCISE = Exercise(
    name="gradient_descent",
    title=Words("Gradient descent", "勾配降下法"),
    task=Words(
        "Take `steps` steps down the loss mean((X w − y)²), the mean over the N rows:\n"
        "w ← w − lr · gradient, the gradient computed anew at each step, by hand or by autograd.\n"
        "w: (d,). X: (N, d). y: (N,). lr: a number. steps: how many, from 0.\n"
        "Returns: w after the last step, (d,).",
        "損失 mean((X w − y)²) (N 行の平均) を steps 回下ります。\n"
        "w ← w − lr · 勾配。勾配は毎回新しく、手計算か自動微分で求めます。\n"
        "w: (d,)。X: (N, d)。y: (N,)。lr: 数。steps: 回数 (0 以上)。\n"
        "返り値: 最後のステップの後の w、(d,)。",
    ),
    right=right,
    steps={
        "times": lambda steps: steps,
        "place": lambda w, start: w,
        "gradient": gradient,
        "collected": lambda grad, kept: (grad, kept),
        "moved": lambda w, grad, lr: w - lr * grad,
    },
    probes=probes,
    mistakes=(
        _collected(
            "grad-not-zeroed",
            lambda grad, kept: (kept + grad, kept + grad),
            Words(
                "gradients add up from step to step: they are never set back to 0",
                "勾配がステップごとに足され、0 に戻されていません",
            ),
        ),
        _collected(
            "grad-zeroed-early",
            lambda grad, kept: (0 * grad, kept),
            Words(
                "the gradient is 0 when the step is made: w never moves",
                "動かすときに勾配が 0 になっており、w が変わりません",
            ),
        ),
        Mistake(
            "grad-stale",
            {"place": lambda w, start: start},
            Words(
                "the gradient of the start is used at every step",
                "どのステップでも最初の勾配を使っています",
            ),
            OWN,
            Words("inside or before the loop?", "勾配の計算はループの中ですか、前ですか。"),
            Words("compute the gradient inside the loop.", "勾配はループの中で計算してください。"),
            ANEW,
            _second,
        ),
        Mistake(
            "gd-ascent",
            {"moved": lambda w, grad, lr: w + lr * grad},
            Words(
                "the step is added: it goes up the loss, not down",
                "足しているため、損失が増える向きに動いています",
            ),
            Words("the gradient shows where the loss grows.", "勾配は損失が増える向きを指します。"),
            Words("which way does the gradient point?", "勾配はどちらを向いていますか。"),
            Words("subtract lr · gradient.", "lr · 勾配を引いてください。"),
            "w = w - lr * grad",
        ),
        _gradient(
            "gd-no-mean",
            lambda w, X, y: len(X) * gradient(w, X, y),
            Words("the gradient is of the sum, not of the mean", "平均ではなく合計の勾配です"),
        ),
        _gradient(
            "gd-no-2",
            lambda w, X, y: gradient(w, X, y) / 2,
            Words("the 2 from the square is missing", "2 乗の微分で出る 2 がありません"),
        ),
        _gradient(
            "gd-residual-sign",
            lambda w, X, y: -gradient(w, X, y),
            Words("the residual is y − X w: the sign is turned", "残差が y − X w で符号が逆です"),
        ),
        _times(
            "gd-once",
            lambda steps: min(steps, 1),
            Words("only one step is made (return inside the loop)", "1 回しか動いていません"),
        ),
        _times(
            "gd-one-more",
            lambda steps: steps + 1,
            Words("one step too many is made", "1 回多く動いています"),
        ),
        _times(
            "gd-one-less",
            lambda steps: max(steps - 1, 0),
            Words("one step too few is made", "1 回少なく動いています"),
        ),
    ),
    ties=(frozenset({"gd-ascent", "gd-residual-sign"}),),
    returns=("w",),
)
