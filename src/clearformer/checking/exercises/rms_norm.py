"""Root-mean-square normalisation over the last axis."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from clearformer.checking.exercise import Exercise, Mistake, Step, Variant
from clearformer.checking.families import modules
from clearformer.checking.families.normalising import mean, normal_rows
from clearformer.checking.probe import Probe, normal
from clearformer.checking.words import Words


def right(step: Any, x: Any, gamma: Any, eps: Any = 1e-5) -> Any:
    """gamma · x / √(mean of x² + eps)."""
    return step.gained(step.divided(step.centred(x), step.square(x), eps), gamma)


def probes() -> Sequence[Probe]:
    """Means that are not 0, rows that are small, gamma not 1, a large eps, a batch."""
    small = normal_rows(133, 3, 4) - normal_rows(133, 3, 4).mean(-1, keepdims=True).round(3)
    return (
        Probe("3 rows of 5", {"x": normal(131, 3, 5) + 2, "gamma": np.ones(5)}),
        Probe("4 rows of 6", {"x": normal(132, 4, 6) - 1, "gamma": 1 + normal(134, 6, scale=0.4)}),
        Probe("5 rows of 5", {"x": normal(135, 5, 5) + 1, "gamma": 1 + normal(136, 5, scale=0.4)}),
        Probe("small rows", {"x": small, "gamma": 1 + normal(137, 4, scale=0.4)}),
        Probe(
            "eps of 0.1", {"x": normal(138, 4, 3), "gamma": np.array([0.5, 1.5, 2.0]), "eps": 0.1}
        ),
        Probe(
            "a batch",
            {"x": normal(139, 3, 4, 7), "gamma": 1 + normal(140, 7, scale=0.4)},
            batched=True,
        ),
    )


CODE = "gamma * x / np.sqrt((x ** 2).mean(axis=-1, keepdims=True) + eps)"


def _slip(key: str, change: Mapping[str, Step], en: str, ja: str, fix: Words) -> Mistake:
    return Mistake(
        key,
        change,
        Words(en, ja),
        Words(
            "before gamma each row has mean square 1.", "gamma の前ではどの行も 2 乗平均が 1 です。"
        ),
        Words(
            "with gamma 1, what is the mean square of a row of your output?",
            "gamma が 1 のとき、出力の 1 行の 2 乗平均はいくつですか。",
        ),
        fix,
        CODE,
    )


MEAN = Words("take the mean of x² over the last axis.", "x² の平均を最後の軸で取ってください。")
ROOT = Words("take the root of the mean square + eps.", "2 乗平均 + eps の平方根を取ってください。")

EXERCISE = Exercise(
    name="rms_norm",
    title=Words("RMS normalisation", "RMS 正規化"),
    task=Words(
        "Divide each row by its root mean square, then scale (Zhang and Sennrich, 2019):\n"
        "gamma · x / √(mean of x² + eps), over the last axis. No mean is subtracted.\n"
        "x: (…, d); gamma: (d,). Returns: the shape of x.",
        "各行を 2 乗平均の平方根で割り、gamma 倍します (Zhang と Sennrich 2019):\n"
        "最後の軸について gamma · x / √(x² の平均 + eps)。平均は引きません。\n"
        "x: (…, d)、gamma: (d,)。返り値: x と同じ形。",
    ),
    right=right,
    steps={
        "centred": lambda x: x,
        "square": lambda x: mean(x**2, -1),
        "divided": lambda x, square, eps: x / np.sqrt(square + eps),
        "gained": lambda normed, gamma: normed * gamma,
    },
    probes=probes,
    module=modules.RMS_NORM,
    variants=(
        Variant(
            "rms-gamma-plus-1",
            {"gained": lambda normed, gamma: normed * (1 + gamma)},
            Words(
                "multiplied by 1 + gamma, as Gemma does; here by gamma",
                "Gemma のように 1 + gamma を掛けています。ここでは gamma です",
            ),
        ),
    ),
    mistakes=(
        _slip(
            "rms-subtracts-mean",
            {"centred": lambda x: x - mean(x, -1)},
            "the mean is subtracted from x",
            "x から平均を引いています",
            Words("leave x as it is; only divide.", "x はそのままにし、割るだけにしてください。"),
        ),
        _slip(
            "rms-variance",
            {"square": lambda x: x.var(-1, keepdims=True)},
            "divided by the standard deviation: the mean was taken out of the squares",
            "標準偏差で割っています。2 乗平均から平均が除かれています",
            MEAN,
        ),
        _slip(
            "rms-layer-norm",
            {"centred": lambda x: x - mean(x, -1), "square": lambda x: x.var(-1, keepdims=True)},
            "this is layer normalisation: mean and standard deviation",
            "これは層正規化です (平均と標準偏差)",
            MEAN,
        ),
        _slip(
            "rms-sum",
            {"square": lambda x: (x**2).sum(-1, keepdims=True)},
            "the squares were added, not averaged",
            "2 乗を平均せず、足しています",
            MEAN,
        ),
        _slip(
            "rms-no-root",
            {"divided": lambda x, square, eps: x / (square + eps)},
            "divided by the mean square itself; the root is missing",
            "2 乗平均そのもので割っています (平方根がありません)",
            ROOT,
        ),
        _slip(
            "rms-eps-outside",
            {"divided": lambda x, square, eps: x / (np.sqrt(square) + eps)},
            "eps stands outside the root",
            "eps が根号の外にあります",
            ROOT,
        ),
        *(
            _slip(
                "rms-axis",
                {"square": lambda x, axis=axis: mean(x**2, axis)},
                "the mean square was taken over the tokens, or over everything",
                "2 乗平均をトークンの方向、または全体で取っています",
                MEAN,
            )
            for axis in (0, -2, None)
        ),
        Mistake(
            "rms-no-gamma",
            {"gained": lambda normed, gamma: normed},
            Words("gamma is never used", "gamma が使われていません"),
            Words(
                "gamma is learned; without it all features keep one size.",
                "gamma は学習されます。ないとどの特徴も同じ大きさのままです。",
            ),
            Words("where does gamma appear in your code?", "gamma はコードのどこに出てきますか。"),
            Words("multiply by gamma at the end.", "最後に gamma を掛けてください。"),
            CODE,
        ),
    ),
)
