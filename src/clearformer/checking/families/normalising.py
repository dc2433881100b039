"""Slips in normalising rows: the steps `centred`, `variance`, `divided`, `gained`, `shifted`."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from clearformer.checking.exercise import Case, Mistake, Step
from clearformer.checking.probe import normal
from clearformer.checking.words import Words

SHOWN = "3 rows of 5"
"""The probe in which gamma is 1 and beta 0, so that the rows themselves are seen."""


def mean(x: Any, axis: Any) -> Any:
    """The mean that keeps its axis."""
    return x.mean(axis, keepdims=True)


def normal_rows(seed: int, rows: int, columns: int) -> Any:
    """Rows that vary by 0.003: there eps counts."""
    return normal(seed, rows, 1) + normal(seed + 1, rows, columns, scale=0.003)


def _spread(cases: Mapping[str, Case]) -> Words | None:
    """Mean and standard deviation of the first row."""
    mine = cases[SHOWN].mine["output"]
    if mine.shape != (3, 5):
        return None
    middle, spread = f"{mine[0].mean():.3f}", f"{mine[0].std():.3f}"
    return Words(
        f"with gamma 1 and beta 0 your row 0 has mean {middle} and deviation {spread}.",
        f"gamma 1、beta 0 のとき、0 行目の平均は {middle}、標準偏差は {spread} です。",
    )


EACH = Words(
    "every token is normalised by itself, or its result would depend on its neighbours.",
    "各トークンは自分だけで正規化します。そうしないと、隣のトークンに結果が左右されます。",
)
ONE = Words(
    "rows come out with variance 1 (less only what eps takes).",
    "どの行も分散がほぼ 1 になります (eps の分だけ小さい)。",
)
ASK_AXIS = Words(
    "does another token in the batch change this one?",
    "他のトークンでこのトークンの結果が変わりますか。",
)
ASK_SPREAD = Words(
    "what are mean and deviation of a row of your output?",
    "出力の 1 行の平均と標準偏差はいくつですか。",
)
FIX_AXIS = Words(
    "mean and variance over the last axis only, keepdims=True.",
    "平均と分散は最後の軸だけ、keepdims=True で。",
)
CODE = "(x - mean) / np.sqrt(x.var(axis=-1, keepdims=True) + eps)"


def _slip(key: str, change: Mapping[str, Step], en: str, ja: str, **more: Any) -> Mistake:
    texts = {"why": ONE, "ask": ASK_SPREAD, "code": CODE, "evidence": _spread, **more}
    return Mistake(key, change, Words(en, ja), **texts)


def _over(axis: Any) -> dict[str, Step]:
    return {
        "centred": lambda x: x - mean(x, axis),
        "variance": lambda x: mean((x - mean(x, axis)) ** 2, axis),
    }


INSIDE = Words(
    "put eps inside the root, beside the variance.", "eps を根号の中、分散の横に入れてください。"
)

SPREADING = (
    _slip(
        "ln-ddof1",
        {"variance": lambda x: x.var(-1, ddof=1, keepdims=True)},
        "the variance divides by n - 1 (ddof=1), expected n",
        "分散を n - 1 で割っています (ddof=1)。n で割ります",
        fix=Words(
            "divide by n: ddof=0, or unbiased=False.",
            "n で割ってください: ddof=0、unbiased=False。",
        ),
    ),
    _slip(
        "ln-eps-outside",
        {"divided": lambda centred, variance, eps: centred / (np.sqrt(variance) + eps)},
        "eps stands outside the root: std + eps",
        "eps が根号の外にあります: 標準偏差 + eps",
        why=Words(
            "rows that hardly vary come out much larger or smaller.",
            "値がほぼ一定の行で、結果が大きくずれます。",
        ),
        ask=Words("to which quantity is eps added?", "eps は何に足していますか。"),
        fix=INSIDE,
        evidence=None,
    ),
    _slip(
        "ln-no-eps",
        {"divided": lambda centred, variance, eps: centred / np.sqrt(variance)},
        "eps is not used",
        "eps が使われていません",
        why=Words("a row of equal numbers becomes 0/0.", "すべての要素が同じ行は 0/0 になります。"),
        ask=Words(
            "what happens to a row of equal numbers?", "すべての要素が同じ行はどうなりますか。"
        ),
        fix=INSIDE,
        evidence=None,
    ),
    *(
        _slip(
            "ln-axis",
            _over(axis),
            "normalised over the positions instead of within each token",
            "トークンごとではなく、位置の方向に正規化しています",
            why=EACH,
            ask=ASK_AXIS,
            fix=FIX_AXIS,
        )
        for axis in (0, -2)
    ),
    *(
        _slip(
            "ln-all-axes",
            _over(axis),
            "one mean and variance for all tokens together",
            "全トークンで 1 つの平均と分散を使っています",
            why=EACH,
            ask=ASK_AXIS,
            fix=FIX_AXIS,
        )
        for axis in (None, (-2, -1))
    ),
    _slip(
        "ln-var-not-std",
        {"divided": lambda centred, variance, eps: centred / (variance + eps)},
        "divided by the variance, not by its root",
        "分散の平方根ではなく、分散で割っています",
        fix=Words("take the root of variance + eps.", "分散 + eps の平方根を取ってください。"),
    ),
    _slip(
        "ln-root-twice",
        {"divided": lambda centred, variance, eps: centred / np.sqrt(np.sqrt(variance) + eps)},
        "the deviation stands under the root, where the variance belongs: √(std + eps)",
        "根号の中が分散ではなく標準偏差です: √(標準偏差 + eps)",
        fix=Words(
            "take the variance, x.var(…), under the root.",
            "根号の中には分散 x.var(…) を入れてください。",
        ),
    ),
    _slip(
        "ln-no-mean",
        {"centred": lambda x: x},
        "the mean is not subtracted",
        "平均を引いていません",
        why=Words("rows come out with mean 0.", "どの行も平均が 0 になります。"),
        fix=Words("subtract the row's mean first.", "先に行の平均を引いてください。"),
    ),
    _slip(
        "ln-no-divide",
        {"divided": lambda centred, variance, eps: centred},
        "only the mean was subtracted; nothing divides by the deviation",
        "平均を引いただけで、標準偏差で割っていません",
        fix=Words("divide by the root of variance + eps.", "分散 + eps の平方根で割ってください。"),
    ),
)
"""Of an exercise with steps `centred(x)`, `variance(x)`, `divided(centred, variance, eps)`."""

_LEARNED = Words(
    "gamma and beta are learned; without them layers cannot undo the norm.",
    "gamma と beta は学習されます。ないと層が正規化を打ち消せません。",
)


def _learned(key: str, change: Mapping[str, Step], en: str, ja: str) -> Mistake:
    return Mistake(
        key,
        change,
        Words(en, ja),
        _LEARNED,
        Words(
            "where do gamma and beta appear in your code?",
            "gamma と beta はコードのどこに出てきますか。",
        ),
        Words(
            "multiply by gamma, then add beta.", "gamma を掛け、それから beta を足してください。"
        ),
        "gamma * normed + beta",
    )


GAIN_AND_SHIFT = (
    _learned(
        "ln-no-affine",
        {"gained": lambda normed, gamma: normed, "shifted": lambda gained, beta: gained},
        "gamma and beta are never used",
        "gamma と beta が使われていません",
    ),
    _learned(
        "ln-no-gamma",
        {"gained": lambda normed, gamma: normed},
        "gamma is never used",
        "gamma が使われていません",
    ),
    _learned(
        "ln-no-beta",
        {"shifted": lambda gained, beta: gained},
        "beta is never used",
        "beta が使われていません",
    ),
    _learned(
        "ln-affine-order",
        {
            "gained": lambda normed, gamma: (normed, gamma),
            "shifted": lambda gained, beta: (gained[0] + beta) * gained[1],
        },
        "beta is added before gamma multiplies",
        "gamma を掛ける前に beta を足しています",
    ),
)
"""Of an exercise with the steps `gained(normed, gamma)` and `shifted(gained, beta)`."""
