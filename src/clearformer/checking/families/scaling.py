"""Slips in dividing products: the step `scaled(products, Q, X)`; X has the model's width."""

import math
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from clearformer.checking.exercise import Case, Mistake, Step
from clearformer.checking.words import Words


def scaled(products: Any, Q: Any, X: Any) -> Any:
    """Divided by the root of the width of one query (of one head)."""
    return products / math.sqrt(Q.shape[-1])


def by(constant: float, products: Any, Q: Any, X: Any) -> Any:
    """Divided by the same number whatever the width."""
    return products / constant


def _read_off(cases: Mapping[str, Case]) -> float | None:
    """The divisor, from a table of weights: log-ratios of a row are differences of its scores."""
    case = cases.get("weights, all seen")
    if case is None:
        return None
    first = next(iter(case.right))
    mine, right = case.mine[first], case.right[first]
    if mine.shape != right.shape:
        return None
    if mine.dtype.kind != "f" or not (mine > 0).all():
        return None
    steps, theirs = np.diff(np.log(mine), axis=-1), np.diff(np.log(right), axis=-1)
    times = float(np.median(steps / theirs))
    given = case.probe.arguments
    root = math.sqrt(given["W_Q" if "W_Q" in given else "Q"].shape[-1])
    return root / times if times > 0 else None


def _constant(cases: Mapping[str, Case]) -> Mapping[str, Step] | None:
    divisor = _read_off(cases)
    return (
        {"scaled": partial(by, divisor)}
        if divisor and not math.isclose(divisor, 1, rel_tol=1e-4)
        else None
    )


def _divisor(cases: Mapping[str, Case]) -> Words | None:
    divisor = _read_off(cases)
    if divisor is None:
        return None
    return Words(
        f"read off your weights: the divisor is {divisor:.4g} at every width.",
        f"重みから読み取ると、どの幅でも {divisor:.4g} で割っています。",
    )


SPREAD = Words(
    "the scale keeps the scores' spread near 1, so that weights are neither flat nor 0 and 1.",
    "スコアのばらつきを 1 前後に保ち、重みが平らにも 0 と 1 だけにもならないようにします。",
)
BY_WIDTH = "scores = Q @ K.swapaxes(-1, -2) / np.sqrt(Q.shape[-1])"


def _scale(key: str, step: Any, found: Words, ask: Words, fix: Words) -> Mistake:
    return Mistake(key, {"scaled": step}, found, SPREAD, ask, fix, BY_WIDTH)


HOW_MUCH = Words(
    "how large is the product of two random vectors of width d_k, typically?",
    "幅 d_k の乱数ベクトル 2 つの内積は、ふつうどのくらいの大きさですか。",
)
ONCE = Words(
    "divide once, by the root of the query's width.",
    "クエリの幅の平方根で 1 回だけ割ってください。",
)

SCALING = (
    _scale(
        "no-scale",
        lambda products, Q, X: products,
        Words("the scores are not divided by √d_k", "スコアが √d_k で割られていません"),
        HOW_MUCH,
        ONCE,
    ),
    _scale(
        "scale-not-sqrt",
        lambda products, Q, X: products / Q.shape[-1],
        Words(
            "divided by d_k itself, not by its root", "平方根ではなく d_k そのもので割っています"
        ),
        HOW_MUCH,
        ONCE,
    ),
    _scale(
        "scale-d-model",
        lambda products, Q, X: products / math.sqrt(X.shape[-1]),
        Words(
            "divided by the root of the model's width, not of the query's (one head's)",
            "クエリ (1 ヘッド) の幅ではなく、モデルの幅の平方根で割っています",
        ),
        Words(
            "how many numbers does one dot product add up?", "1 つの内積はいくつの数を足しますか。"
        ),
        ONCE,
    ),
    _scale(
        "scale-T",
        lambda products, Q, X: products / math.sqrt(products.shape[-1]),
        Words(
            "divided by the root of the number of tokens, not of the query's width",
            "クエリの幅ではなく、トークン数の平方根で割っています",
        ),
        Words(
            "should a longer text make attention flatter?",
            "文が長いほど、重みは平らになるべきですか。",
        ),
        ONCE,
    ),
    replace(
        _scale(
            "scale-constant",
            partial(by, 8.0),
            Words(
                "divided by the same number whatever the width: right for one width only",
                "幅によらず同じ数で割っています。1 つの幅でしか正しくありません",
            ),
            Words("does your divisor change with the width?", "割る数は幅とともに変わりますか。"),
            ONCE,
        ),
        fit=_constant,
        evidence=_divisor,
    ),
    _scale(
        "scale-multiplied",
        lambda products, Q, X: products * math.sqrt(Q.shape[-1]),
        Words("multiplied by √d_k instead of divided", "割るのではなく √d_k を掛けています"),
        Words(
            "should the scores become larger or smaller?",
            "スコアは大きくなるべきですか、小さくなるべきですか。",
        ),
        ONCE,
    ),
    _scale(
        "scale-twice",
        lambda products, Q, X: products / math.sqrt(Q.shape[-1]) / math.sqrt(Q.shape[-1]),
        Words(
            "divided by √d_k twice (that is, by d_k)",
            "√d_k で 2 回割っています (つまり d_k で割っています)",
        ),
        Words("in how many places do you divide?", "割り算は何か所にありますか。"),
        ONCE,
    ),
)
"""Of any exercise with a step `scaled(products, Q, X)`."""

SCALE_AFTER = Mistake(
    "scale-after-softmax",
    {
        "scaled": lambda products, Q, X: products,
        "scaled_after": lambda weights, Q: weights / math.sqrt(Q.shape[-1]),
    },
    Words(
        "divided by √d_k after the softmax, not before",
        "softmax の前ではなく後で √d_k で割っています",
    ),
    Words(
        "the rows of the weights then add up to 1/√d_k, not to 1.",
        "重みの行の和が 1 ではなく 1/√d_k になります。",
    ),
    Words("what should each row of weights add up to?", "重みの各行の和はいくつになるはずですか。"),
    Words(
        "divide the scores, then take the softmax.", "スコアを割ってから softmax を取ってください。"
    ),
    "weights = softmax(scores / np.sqrt(Q.shape[-1]))",
)
"""Of one that has the step `scaled_after(weights, Q)` as well."""


def unscaled(weights: Any, Q: Any) -> Any:
    """Nothing is divided after the softmax."""
    return weights


SCALE_TIES = (frozenset({"scale-not-sqrt", "scale-twice"}),)
"""Dividing twice by the root is dividing by the number."""
