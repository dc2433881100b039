"""Slips on the way back through a recurrent layer: the steps `bent_back(d_h, h)` and `partner`."""

from typing import Any

import numpy as np

from clearformer.checking.exercise import Evidence, Mistake, Step
from clearformer.checking.words import Words


def bent_back(d_h: Any, h: Any) -> Any:
    """Through tanh, whose slope is 1 - h² at its result h."""
    return d_h * (1 - h**2)


PARTNER = "dW_hh += np.outer(h_before, d_sum)"
MET = Words(
    "which state was multiplied by W_hh at step t? And at step 0?",
    "ステップ t で W_hh に掛かったのはどの状態ですか。ステップ 0 では。",
)


def slopes(evidence: Evidence) -> tuple[Mistake, ...]:
    """The slope of tanh is another."""

    def slope(step: Step, en: str, ja: str) -> Mistake:
        return Mistake(
            "act-derivative",
            {"bent_back": step},
            Words(en, ja),
            Words(
                "where tanh is nearly flat, hardly any gradient comes through.",
                "tanh がほぼ平らなところでは、勾配はほとんど通りません。",
            ),
            Words(
                "what is the slope of tanh, written with its result h?",
                "tanh の傾きは、結果の h を使うとどう書けますか。",
            ),
            Words(
                "multiply by 1 - h², the slope of tanh at its result.",
                "tanh の傾き 1 - h² を掛けてください。",
            ),
            "d_sum = d_h * (1 - h**2)",
            evidence,
        )

    return (
        slope(
            lambda d_h, h: d_h * h,
            "h itself is used where the slope of tanh, 1 - h², is due",
            "tanh の傾き 1 - h² ではなく h そのものを掛けています",
        ),
        slope(
            lambda d_h, h: d_h,
            "the slope of tanh is left out",
            "tanh の傾きが掛けられていません",
        ),
        slope(
            lambda d_h, h: d_h * (1 - h),
            "1 - h, expected 1 - h²",
            "1 - h です。1 - h² にします",
        ),
        slope(
            lambda d_h, h: d_h * h * (1 - h),
            "h (1 - h) is the slope of a sigmoid; that of tanh is 1 - h²",
            "h (1 - h) はシグモイドの傾きです。tanh は 1 - h² です",
        ),
        slope(
            lambda d_h, h: d_h * (1 - np.tanh(h) ** 2),
            "tanh is taken once more: h already is its result",
            "tanh を二重に取っています。h はすでに tanh の結果です",
        ),
    )


def state_after(step: Step, evidence: Evidence) -> Mistake:
    """dW_hh is made with the state after the step; `step` is that version of `partner`."""
    return Mistake(
        "bptt-wrong-state",
        {"partner": step},
        Words(
            "dW_hh uses the state after the step, not the one before",
            "dW_hh にステップ前ではなく後の状態を使っています",
        ),
        Words(
            "the gradient of a weight is what went into it times what comes back.",
            "重みの勾配は、そこに入った値と、戻ってくる勾配の積です。",
        ),
        MET,
        Words(
            "W_hh met h_{t-1}: use the state before.",
            "W_hh に掛かったのは h_{t-1} です。前の状態を使ってください。",
        ),
        PARTNER,
        evidence,
    )
