"""From which distribution skip-gram draws its negatives."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from clearformer.checking.exercise import Exercise, Mistake, Step
from clearformer.checking.probe import Probe
from clearformer.checking.words import Words


def right(step: Any, counts: Any) -> Any:
    """counts^0.75 / Σ counts^0.75."""
    return step.shared(step.raised(np.asarray(counts, float)), np.asarray(counts, float))


def probes() -> Sequence[Probe]:
    """Frequent and rare words, one that never occurs."""
    return (
        Probe("4 words", {"counts": np.array([100, 10, 1, 40])}),
        Probe("6 words", {"counts": np.array([7, 500, 30, 0, 2, 60])}),
        Probe("alike but one", {"counts": np.array([5, 5, 5, 80, 5])}),
    )


def _slip(key: str, change: dict[str, Step], en: str, ja: str) -> Mistake:
    return Mistake(
        key,
        change,
        Words(en, ja),
        Words(
            "the power lifts rare words a little above their own frequency.",
            "このべき乗で、まれな語が少し選ばれやすくなります。",
        ),
        Words(
            "how often is a rare word drawn, beside a frequent one?",
            "まれな語は、よく出る語に比べてどれだけ選ばれますか。",
        ),
        Words(
            "raise the counts to 0.75, then divide by their sum.",
            "回数を 0.75 乗し、その和で割ってください。",
        ),
        "p = counts ** 0.75; p / p.sum()",
    )


EXERCISE = Exercise(
    name="noise_distribution",
    title=Words("Noise of skip-gram", "skip-gram の雑音分布"),
    task=Words(
        "Negatives are drawn in proportion to counts^0.75 (Mikolov et al., 2013).\n"
        "counts: how often each word occurs, whole numbers (vocab,).\n"
        "Returns: probabilities (vocab,) that add up to 1.",
        "負例は counts^0.75 に比例する確率で抽選します (Mikolov ほか 2013)。\n"
        "counts: 各語の出現回数、整数 (語彙,)。返り値: 和が 1 の確率 (語彙,)。",
    ),
    right=right,
    steps={
        "raised": lambda counts: counts**0.75,
        "shared": lambda raised, counts: raised / raised.sum(),
    },
    probes=probes,
    mistakes=(
        _slip(
            "noise-power",
            {"raised": lambda counts: counts},
            "the plain frequencies: the power 0.75 is missing",
            "頻度のままです (0.75 乗がありません)",
        ),
        _slip(
            "noise-uniform",
            {"raised": np.ones_like},
            "every word is as likely: the counts are not used",
            "すべての語が同じ確率で、回数が使われていません",
        ),
        _slip(
            "noise-not-renormalised",
            {"shared": lambda raised, counts: (counts / counts.sum()) ** 0.75},
            "probabilities raised to 0.75 and not made to add up to 1 again",
            "確率を 0.75 乗したまま、和を 1 に戻していません",
        ),
        _slip(
            "noise-divided-by-counts",
            {"shared": lambda raised, counts: raised / counts.sum()},
            "divided by the sum of the counts, not of their powers",
            "べき乗の和ではなく、回数の和で割っています",
        ),
        _slip(
            "noise-square-root",
            {"raised": np.sqrt},
            "the power is 0.5, expected 0.75",
            "0.5 乗です。0.75 乗にします",
        ),
        _slip(
            "noise-inverted",
            {"raised": lambda counts: np.where(counts > 0, np.maximum(counts, 1) ** -0.75, 0)},
            "rare words are the likeliest: the sign of the power is wrong",
            "まれな語ほど多く選ばれます。べきの符号が逆です",
        ),
    ),
)
