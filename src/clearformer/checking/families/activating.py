"""Slips in GELU: the step `activated(x)`."""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from clearformer.checking.exercise import Case, Mistake, Step, Variant
from clearformer.checking.words import Words


def erf(x: Any) -> Any:
    """The error function, number by number."""
    return np.vectorize(math.erf, otypes=[float])(x)


def gelu(x: Any) -> Any:
    """x · Φ(x), Φ(x) = (1 + erf(x/√2)) / 2 (Hendrycks and Gimpel, 2016)."""
    return x * 0.5 * (1 + erf(x / math.sqrt(2)))


def tanh_form(x: Any) -> Any:
    """The approximation of GPT-2."""
    return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


def sigmoid(x: Any) -> Any:
    """1 / (1 + exp(-x))."""
    return 1 / (1 + np.exp(-x))


def relu(x: Any) -> Any:
    """0 below 0."""
    return np.maximum(x, 0)


def _at_one(cases: Mapping[str, Case]) -> Words | None:
    """The value nearest to x = 1."""
    case = next(iter(cases.values()))
    x, mine = case.probe.arguments["x"], case.mine["output"]
    if mine.shape != x.shape:
        return None
    place = np.unravel_index(int(np.abs(x - 1).argmin()), x.shape)
    at, yours, expected = f"{x[place]:.2f}", f"{mine[place]:.4f}", f"{gelu(x)[place]:.4f}"
    return Words(
        f"at x = {at} yours is {yours}, expected {expected}.",
        f"x = {at} で、あなたの値は {yours}、正しくは {expected} です。",
    )


CODE = "0.5 * x * (1 + erf(x / np.sqrt(2)))"


def _slip(key: str, step: Step, en: str, ja: str, *, ask: Words, fix: Words) -> Mistake:
    why = Words(
        "GELU passes x by the share Φ(x) of a normal distribution below it.",
        "GELU は、正規分布で x より下にある割合 Φ(x) だけ x を通します。",
    )
    return Mistake(key, {"activated": step}, Words(en, ja), why, ask, fix, CODE, _at_one)


SHAPE = Words("what is GELU of −1, and of −4?", "−1 と −4 の GELU はいくつですか。")
PHI = Words("multiply x by (1 + erf(x/√2)) / 2.", "x に (1 + erf(x/√2)) / 2 を掛けてください。")

ACTIVATING = (
    _slip(
        "gelu-erf-no-sqrt2",
        lambda x: x * 0.5 * (1 + erf(x)),
        "erf(x), expected erf(x/√2)",
        "erf(x) です。erf(x/√2) にします",
        ask=Words(
            "which deviation has the normal distribution of Φ?",
            "Φ の正規分布の標準偏差はいくつですか。",
        ),
        fix=PHI,
    ),
    _slip(
        "gelu-sigmoid",
        lambda x: x * sigmoid(1.702 * x),
        "x · σ(1.702 x): the approximation by a sigmoid, off by up to 0.02",
        "x · σ(1.702 x) はシグモイドによる近似で、最大 0.02 ずれます",
        ask=Words("is your function exact?", "その関数は厳密ですか。"),
        fix=PHI,
    ),
    _slip(
        "gelu-silu",
        lambda x: x * sigmoid(x),
        "x · σ(x) is SiLU (swish), not GELU",
        "x · σ(x) は GELU ではなく SiLU (swish) です",
        ask=Words("which distribution is Φ of?", "Φ はどの分布のものですか。"),
        fix=PHI,
    ),
    _slip(
        "relu-for-gelu",
        relu,
        "this is ReLU: exactly 0 below 0",
        "これは ReLU です (0 より下がすべて 0)",
        ask=SHAPE,
        fix=PHI,
    ),
    _slip(
        "no-activation",
        lambda x: x,
        "there is no activation: the output is x",
        "活性化がありません。出力が x のままです",
        ask=SHAPE,
        fix=PHI,
    ),
    _slip(
        "gelu-no-x",
        lambda x: 0.5 * (1 + erf(x / math.sqrt(2))),
        "this is Φ(x) alone; it must be multiplied by x",
        "Φ(x) だけです。x を掛けます",
        ask=Words("what should large x become?", "大きい x はどうなるはずですか。"),
        fix=PHI,
    ),
    _slip(
        "gelu-no-half",
        lambda x: x * (1 + erf(x / math.sqrt(2))),
        "twice too large: the ½ is missing",
        "2 倍になっています (½ がありません)",
        ask=Words("what should GELU of 4 be, nearly?", "4 の GELU はおよそいくつですか。"),
        fix=PHI,
    ),
)
"""Of any exercise with a step `activated(x)`; its first probe has an argument x."""

ROOT = math.sqrt(2 / math.pi)


def _bracket(step: Step, en: str, ja: str) -> Mistake:
    """A bracket of the tanh form stands elsewhere."""
    slip = _slip(
        "gelu-tanh-bracket",
        step,
        en,
        ja,
        ask=Words(
            "which part of 0.5 x (1 + tanh(√(2/π) (x + 0.044715 x³))) does each bracket hold?",
            "0.5 x (1 + tanh(√(2/π) (x + 0.044715 x³))) の括弧はそれぞれどこを囲みますか。",
        ),
        fix=Words(
            "set the brackets as in 0.5 x (1 + tanh(√(2/π) (x + 0.044715 x³))), or take erf.",
            "0.5 x (1 + tanh(√(2/π) (x + 0.044715 x³))) のとおりに括弧を付けるか、"
            "erf を使ってください。",
        ),
    )
    return replace(slip, code="0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))")


BRACKETS = (
    _bracket(
        lambda x: 0.5 * x * (1 + np.tanh(ROOT * x + 0.044715 * x**3)),
        "in the tanh form √(2/π) multiplies x alone, not x + 0.044715 x³",
        "tanh の形で √(2/π) が x だけに掛かっています (x + 0.044715 x³ 全体に掛けます)",
    ),
    _bracket(
        lambda x: 0.5 * x * (1 + np.tanh(ROOT) * (x + 0.044715 * x**3)),
        "in the tanh form tanh holds √(2/π) alone, not the whole product",
        "tanh の中が √(2/π) だけです (積の全体を入れます)",
    ),
    _bracket(
        lambda x: 0.5 * x * (1 + np.tanh(ROOT * (x + 0.044715 * x) ** 3)),
        "in the tanh form the sum is cubed, not x alone: (x + 0.044715 x)³",
        "tanh の形で x だけでなく和を 3 乗しています: (x + 0.044715 x)³",
    ),
    _bracket(
        lambda x: 0.5 * x + np.tanh(ROOT * (x + 0.044715 * x**3)),
        "in the tanh form the bracket around 1 + tanh(…) is missing",
        "tanh の形で 1 + tanh(…) を囲む括弧がありません",
    ),
    _bracket(
        lambda x: 0.5 * x * (1 + np.tanh(math.sqrt(2) / math.pi * (x + 0.044715 * x**3))),
        "in the tanh form the root holds 2 alone: √2/π, expected √(2/π)",
        "tanh の形で根号の中が 2 だけです: √2/π ではなく √(2/π) にします",
    ),
)
"""Of any exercise with a step `activated(x)` that takes the tanh form, too."""

TANH = Variant(
    "gelu-variant",
    {"activated": tanh_form},
    Words(
        "the tanh form of GPT-2, within 0.0005 of the exact one that is asked for",
        "GPT-2 の tanh による形で、求められた厳密な形との差は 0.0005 以内です",
    ),
)
