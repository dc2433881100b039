"""Softmax over the last axis."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from clearformer.checking.exercise import Exercise, Mistake
from clearformer.checking.families.softmaxing import ROWS, SOFTMAXING, softmax
from clearformer.checking.probe import Probe, normal, whole
from clearformer.checking.words import Words


def right(step: Any, x: Any) -> Any:
    """exp(x - max) / Σ exp(x - max), in each row."""
    return step.weights(x)


def probes() -> Sequence[Probe]:
    """Rows and columns of different number; a square table, where slips go unseen by shape."""
    shift = np.array([[3.0], [-2.0], [0.0], [5.0]])
    return (
        Probe("weights of 3 rows of 4", {"x": normal(1, 3, 4)}),
        Probe("5 rows of 5", {"x": normal(2, 5, 5)}),
        Probe(
            "one row",
            {"x": normal(3, 6)},
            role="stress",
            says=Words("a single row, without a second axis", "軸が 1 つだけの 1 行"),
        ),
        Probe("a batch", {"x": normal(4, 3, 4, 5)}, batched=True),
        Probe("rows of different height", {"x": normal(5, 4, 3) + shift}),
        Probe(
            "scores of 1,000",
            {"x": np.array([[1000.0, 999.0, 998.0], [1.0, 2.0, 3.0], [-1000.0, -999.0, -1001.0]])},
            role="stress",
            says=Words("scores of ±1,000", "±1,000 のスコア"),
        ),
        Probe(
            "hidden scores",
            {"x": np.array([[0.5, -np.inf, 1.5], [-np.inf, 2.0, -np.inf]])},
            role="stress",
            says=Words("scores hidden with −inf", "−inf で隠したスコア"),
        ),
        Probe(
            "whole numbers",
            {"x": whole(6, 4, 3, 4)},
            role="stress",
            says=Words("whole numbers as input", "整数の入力"),
            form="whole numbers",  # an answer need not take them
        ),
    )


TRUNCATED = Mistake(
    "int-truncation",
    {"weights": lambda x: softmax(x).astype(x.dtype)},
    Words(
        "shares are stored in an array of whole numbers and cut off to 0",
        "割合が整数の配列に入れられ、0 に切り捨てられています",
    ),
    Words(
        "zeros_like(x) takes over the type of x, also that of whole numbers.",
        "zeros_like(x) は x の型を、整数でもそのまま引き継ぎます。",
    ),
    Words("which type has the array that you store into?", "書き込む先の配列の型は何ですか。"),
    Words("make the array of floats.", "浮動小数点数の配列を作ってください。"),
    "out = np.zeros(x.shape)",
    beside=True,
)

BY_NUMBER = Mistake(
    "softmax-axis0",
    {"weights": lambda x: softmax(x, 1 if x.ndim > 1 else 0)},
    Words(
        "softmax taken over axis 1, which is the last one only without a batch",
        "axis 1 で softmax を取っています。バッチがあると最後の軸ではありません",
    ),
    ROWS,
    Words(
        "which number has the last axis where there is a batch?",
        "バッチがあるとき、最後の軸は何番目ですか。",
    ),
    Words("count axes from the end: axis=-1.", "軸を後ろから数えてください: axis=-1。"),
    "e / e.sum(axis=-1, keepdims=True)",
)

EXERCISE = Exercise(
    name="softmax",
    title=Words("Softmax", "softmax"),
    task=Words(
        "Turn scores into shares: exp(x) divided by its sum over the last axis.\n"
        "x: any shape (…, n), float. Returns: the same shape; each row along the last axis "
        "adds up to 1. Large scores, such as 1,000, must not overflow.",
        "スコアを割合に変えます: exp(x) を最後の軸での和で割ります。\n"
        "x: 任意の形 (…, n)、浮動小数点数。返り値: 同じ形で、最後の軸に沿った各行の和は 1。"
        "1,000 のような大きいスコアでもオーバーフローしてはいけません。",
    ),
    right=right,
    steps={"weights": softmax},
    probes=probes,
    mistakes=(*SOFTMAXING, BY_NUMBER, TRUNCATED),
)
