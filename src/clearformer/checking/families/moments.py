"""Adam: its two running means, and the slips that `adam_step` and `adamw_step` share.

The steps are `first`, `second`, `undo_first`, `undo_second`, `direction`, `used` and `state`.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from clearformer.checking.exercise import Case, Mistake, Variant
from clearformer.checking.probe import normal
from clearformer.checking.words import Words


def direction(step: Any, m: Any, v: Any, g: Any, t: Any, betas: Any, eps: Any) -> Any:
    """Where to go, and the new means: (m̂ / (√v̂ + ε), m, v, m̂, v̂)."""
    new_m, new_v = step.first(m, g, *betas), step.second(v, g, *betas)
    used_m, used_v = step.used(new_m, new_v, m, v)
    m_hat = step.undo_first(used_m, betas[0], t)
    v_hat = step.undo_second(used_v, betas[1], t)
    return step.direction(m_hat, v_hat, g, eps, betas[1], t), new_m, new_v, m_hat, v_hat


def first(m: Any, g: Any, beta1: Any, beta2: Any) -> Any:
    """The running mean of gradients."""
    return beta1 * m + (1 - beta1) * g


def second(v: Any, g: Any, beta1: Any, beta2: Any) -> Any:
    """The running mean of their squares."""
    return beta2 * v + (1 - beta2) * g**2


def undo(mean: Any, beta: Any, t: Any) -> Any:
    """Makes good for the start from 0."""
    return mean / (1 - beta**t)


def ratio(m_hat: Any, v_hat: Any, g: Any, eps: Any, beta2: Any, t: Any) -> Any:
    """ε stands outside the root, after the correction."""
    return m_hat / (np.sqrt(v_hat) + eps)


STEPS: Mapping[str, Callable[..., Any]] = {
    "first": first,
    "second": second,
    "used": lambda new_m, new_v, m, v: (new_m, new_v),
    "undo_first": undo,
    "undo_second": undo,
    "direction": ratio,
    "state": lambda m, v, m_hat, v_hat: (m, v),
}


def begun(seed: int, *shape: int, spread: float = 1.0) -> dict[str, Any]:
    """Weights and gradients with means that have seen some."""
    return {
        "w": normal(seed, *shape),
        "g": normal(seed + 1, *shape, scale=spread),
        "m": normal(seed + 2, *shape, scale=0.6 * spread),
        "v": (0.2 + normal(seed + 3, *shape) ** 2) * spread**2,
    }


def fresh(seed: int, *shape: int, spread: float = 1.0) -> dict[str, Any]:
    """Weights and gradients before the first step."""
    nothing = {"m": np.zeros(shape), "v": np.zeros(shape)}
    return {**begun(seed, *shape, spread=spread), **nothing}


def _undone(wrong: Callable[..., Any]) -> Mapping[str, Any]:
    return {"undo_first": wrong, "undo_second": wrong}


def _same(mean: Any, beta: Any, t: Any) -> Any:
    return mean


FIRST = "first step"
"""A case with m = v = 0 and t = 1, where each weight moves by lr."""


def _moved(cases: Mapping[str, Case]) -> Words | None:
    case = cases[FIRST]
    mine = np.abs(case.mine["w"] - case.probe.arguments["w"]).mean()
    right = np.abs(case.right["w"] - case.probe.arguments["w"]).mean()
    if np.isclose(mine, right, 1e-3):
        return None
    return Words(
        f"at t = 1 your weights move by {mine:.4g} on average; expected {right:.4g}.",
        f"t = 1 での重みの動きは平均 {mine:.4g}、正しくは {right:.4g} です。",
    )


START = Words(
    "m and v start at 0 and are too small at first; dividing by 1 − βᵗ makes good for it.",
    "m と v は 0 から始まるので最初は小さすぎます。1 − βᵗ で割って補います。",
)
CONSTANT = Words(
    "with the same g at every step, what should m̂ be at t = 1?",
    "毎回同じ g なら、t = 1 の m̂ はいくつになるはずですか。",
)
UNDO = Words(
    "m̂ = m / (1 − β1ᵗ) and v̂ = v / (1 − β2ᵗ), with t from 1.",
    "m̂ = m / (1 − β1ᵗ)、v̂ = v / (1 − β2ᵗ)。t は 1 からです。",
)
HATS = "m_hat, v_hat = m / (1 - beta1**t), v / (1 - beta2**t)"
SIZE = Words(
    "every weight should move by about lr, whatever the size of its gradient.",
    "勾配の大きさによらず、どの重みもおよそ lr だけ動くはずです。",
)
UNIT = Words(
    "if all gradients were 10 times larger, how should the step change?",
    "勾配がすべて 10 倍になったら、歩幅はどう変わるはずですか。",
)
MOMENTS = Words(
    "m = β1 m + (1 − β1) g and v = β2 v + (1 − β2) g².",
    "m = β1 m + (1 − β1) g、v = β2 v + (1 − β2) g² です。",
)
MEANS = "m, v = beta1 * m + (1 - beta1) * g, beta2 * v + (1 - beta2) * g**2"
RATIO = Words("the direction is m̂ / (√v̂ + ε).", "進む向きは m̂ / (√v̂ + ε) です。")
LINE = "w = w - lr * m_hat / (np.sqrt(v_hat) + eps)"


def _correction(key: str, change: Mapping[str, Any], found: Words) -> Mistake:
    return Mistake(key, change, found, START, CONSTANT, UNDO, HATS, _moved)


def _mean(key: str, change: Mapping[str, Any], found: Words) -> Mistake:
    return Mistake(key, change, found, SIZE, UNIT, MOMENTS, MEANS)


def _direction(key: str, step: Any, found: Words) -> Mistake:
    return Mistake(key, {"direction": step}, found, SIZE, UNIT, RATIO, LINE, _moved)


MOMENT_SLIPS = (
    _correction(
        "adam-no-bias-correction",
        _undone(_same),
        Words("the bias correction is missing", "バイアス補正がありません"),
    ),
    _correction(
        "adam-half-correction",
        {"undo_second": _same},
        Words("m is corrected for its start, v is not", "m だけ補正され、v が補正されていません"),
    ),
    _correction(
        "adam-half-correction",
        {"undo_first": _same},
        Words("v is corrected for its start, m is not", "v だけ補正され、m が補正されていません"),
    ),
    _correction(
        "adam-t0",
        _undone(lambda mean, beta, t: np.divide(mean, 1 - beta ** (t - 1))),
        Words(
            "t is counted from 0 (1 less than given): the first step divides by 0",
            "t を 0 から (渡された値より 1 小さく) 数えており、最初に 0 で割っています",
        ),
    ),
    _correction(
        "adam-t-late",
        _undone(lambda mean, beta, t: undo(mean, beta, t + 1)),
        Words(
            "t is raised by 1 once more: it already counts from 1",
            "t にさらに 1 を足しています (t はすでに 1 から数えています)",
        ),
    ),
    _correction(
        "adam-correction-fixed",
        _undone(lambda mean, beta, t: undo(mean, beta, 1)),
        Words(
            "the correction is 1 − β at every step, without the power t",
            "補正が毎回 1 − β のままで、t 乗されていません",
        ),
    ),
    _correction(
        "adam-beta-times-t",
        _undone(lambda mean, beta, t: mean / (1 - beta * t)),
        Words("β is multiplied by t, not raised to it", "β を t 乗ではなく t 倍しています"),
    ),
    _mean(
        "adam-betas-exchanged",
        {
            "first": lambda m, g, beta1, beta2: first(m, g, beta2, beta1),
            "second": lambda v, g, beta1, beta2: second(v, g, beta2, beta1),
        },
        Words("β1 and β2 are exchanged in the means", "平均を取るとき β1 と β2 が逆です"),
    ),
    _mean(
        "adam-old-and-new",
        {
            "first": lambda m, g, beta1, beta2: first(m, g, 1 - beta1, beta2),
            "second": lambda v, g, beta1, beta2: second(v, g, beta1, 1 - beta2),
        },
        Words(
            "β is given to the new gradient and 1 − β to the old mean",
            "新しい勾配に β、古い平均に 1 − β を掛けています",
        ),
    ),
    _mean(
        "adam-v-not-squared",
        {"second": lambda v, g, beta1, beta2: beta2 * v + (1 - beta2) * g},
        Words("v is a mean of g, not of g²", "v が g² ではなく g の平均になっています"),
    ),
    _mean(
        "adam-sums",
        {
            "first": lambda m, g, beta1, beta2: beta1 * m + g,
            "second": lambda v, g, beta1, beta2: beta2 * v + g**2,
        },
        Words("the factors 1 − β before g and g² are missing", "g と g² の前の 1 − β がありません"),
    ),
    _mean(
        "adam-old-moments",
        {"used": lambda new_m, new_v, m, v: (m, v)},
        Words(
            "the step is made with m and v from before this gradient",
            "この勾配を入れる前の m と v で動かしています",
        ),
    ),
    Mistake(
        "adam-keeps-corrected",
        {"state": lambda m, v, m_hat, v_hat: (m_hat, v_hat)},
        Words(
            "the corrected m̂ and v̂ are returned as the new m and v",
            "補正後の m̂ と v̂ を次の m と v として返しています",
        ),
        Words("the next step would correct them once more.", "次のステップで二重に補正されます。"),
        Words("which m does the next step start from?", "次のステップはどの m から始まりますか。"),
        Words(
            "use m̂ and v̂ for this step only; return m and v.",
            "m̂ と v̂ はこのステップだけに使い、m と v を返してください。",
        ),
        "return w, m, v",
    ),
    _direction(
        "adam-no-root",
        lambda m_hat, v_hat, g, eps, beta2, t: m_hat / (v_hat + eps),
        Words("divided by v̂ itself, not by its root", "平方根ではなく v̂ そのもので割っています"),
    ),
    _direction(
        "adam-no-v",
        lambda m_hat, v_hat, g, eps, beta2, t: m_hat,
        Words("v has no effect on the step: only m̂ is used", "v が使われず、m̂ だけで動いています"),
    ),
    _direction(
        "adam-no-m",
        lambda m_hat, v_hat, g, eps, beta2, t: g / (np.sqrt(v_hat) + eps),
        Words(
            "m has no effect on the step: g itself is used",
            "m が使われず、g そのもので動いています",
        ),
    ),
    _direction(
        "adam-no-eps",
        lambda m_hat, v_hat, g, eps, beta2, t: m_hat / np.sqrt(v_hat),
        Words("ε is missing: a gradient of 0 gives 0/0", "ε がなく、勾配 0 で 0/0 になります"),
    ),
)
"""Of any exercise that goes through `direction`."""

EPSILONS = (
    Variant(
        "adam-eps",
        {"direction": lambda m_hat, v_hat, g, eps, beta2, t: m_hat / np.sqrt(v_hat + eps)},
        Words(
            "ε stands inside the root; here outside. It shows only where g is tiny.",
            "ε が根号の中にあります (ここでは外)。勾配がとても小さいときだけ違います。",
        ),
    ),
    Variant(
        "adam-eps",
        {
            "direction": lambda m_hat, v_hat, g, eps, beta2, t: (
                m_hat / (np.sqrt(v_hat) + eps / np.sqrt(1 - beta2**t))
            )
        },
        Words(
            "ε is added to √v before the correction (as TensorFlow does); here after it.",
            "ε を補正前の √v に足しています (TensorFlow と同じ)。ここでは補正後です。",
        ),
    ),
)
"""Other places for ε."""
