"""Attention of a decoder state over encoder states, by dot products."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from clearformer.checking.exercise import Exercise, Mistake, Variant
from clearformer.checking.families.softmaxing import SOFTMAXING, softmax
from clearformer.checking.probe import Probe, normal
from clearformer.checking.words import Words


def right(step: Any, dec_h: Any, enc_H: Any) -> Any:
    """weights = softmax(enc_H · dec_h); context = Σ weights · enc_H."""
    table = step.scaled(step.scores(dec_h, enc_H), dec_h)
    weights = step.weights(table)
    return step.context(weights, enc_H, dec_h), step.shown(weights, table)


def scores(dec_h: Any, enc_H: Any) -> Any:
    """One dot product for each encoder state."""
    return (enc_H @ dec_h[..., None])[..., 0]


def context(weights: Any, enc_H: Any, dec_h: Any) -> Any:
    """The mix of encoder states."""
    return (weights[..., None, :] @ enc_H)[..., 0, :]


def probes() -> Sequence[Probe]:
    """Sentences longer and shorter than the state is wide, and as long; a batch of three."""
    return (
        Probe("5 states", {"dec_h": normal(601, 3, scale=0.8), "enc_H": normal(602, 5, 3)}),
        Probe("4 states", {"dec_h": normal(603, 6, scale=0.6), "enc_H": normal(604, 4, 6)}),
        Probe("as many as wide", {"dec_h": normal(605, 4, scale=0.7), "enc_H": normal(606, 4, 4)}),
        Probe("7 states", {"dec_h": normal(607, 5, scale=0.7), "enc_H": normal(608, 7, 5)}),
        Probe(
            "a batch",
            {"dec_h": normal(609, 3, 4, scale=0.7), "enc_H": normal(610, 3, 6, 4)},
            batched=True,
        ),
        Probe(
            "scores of 1,000",
            {"dec_h": normal(611, 4, scale=30.0), "enc_H": normal(612, 5, 4, scale=30.0)},
            role="stress",
            says=Words("scores of 1,000", "1,000 ほどのスコア"),
        ),
    )


LOOK = Words(
    "the decoder chooses anew at every step where in the source to look.",
    "デコーダは毎回、原文のどこを見るかを選び直します。",
)
FORMULA = Words(
    "score each encoder state by enc_H @ dec_h, softmax over them, then mix enc_H.",
    "enc_H @ dec_h で各状態に点を付け、その方向に softmax を取り、enc_H を混ぜてください。",
)
CODE = "weights = softmax(enc_H @ dec_h); context = weights @ enc_H"
ASK = Words(
    "how many scores belong to one decoder state?",
    "デコーダの状態 1 つにスコアはいくつありますか。",
)


def _slip(key: str, change: Any, en: str, ja: str) -> Mistake:
    return Mistake(key, change, Words(en, ja), LOOK, ASK, FORMULA, CODE)


WEIGHING = tuple(
    replace(each, evidence=None)
    for each in SOFTMAXING
    if each.key not in ("softmax-axis0", "softmax-whole", "softmax-keepdims")
    and not each.key.endswith(("global-max", "floor-0"))
)
"""With one row of scores there is no other axis to go wrong in."""

OVER_BATCH = Mistake(
    "attn-softmax-over-batch",
    {"weights": lambda scores: softmax(scores, 0) if scores.ndim > 1 else softmax(scores)},
    Words(
        "softmax over the batch: weights of one sentence do not sum to 1",
        "softmax がバッチ方向です。1 文の重みの和が 1 になりません",
    ),
    Words(
        "sentences of a batch must not influence each other.",
        "バッチの文どうしが影響し合ってはいけません。",
    ),
    Words("what do the weights of one sentence add up to?", "1 文の重みの和はいくつですか。"),
    Words(
        "take the softmax over the source, the last axis.",
        "softmax を原文の方向 (最後の軸) で取ってください。",
    ),
    "weights = softmax(scores, axis=-1)",
)

SCALED = Variant(
    "attn-scaled",
    {"scaled": lambda scores, dec_h: scores / np.sqrt(dec_h.shape[-1])},
    Words(
        "scores are divided by √hidden, as in Transformers; Luong's are not",
        "Transformer のように √hidden で割っています。Luong の形では割りません",
    ),
)

EXERCISE = Exercise(
    name="seq2seq_attention",
    title=Words("Attention in seq2seq", "seq2seq のアテンション"),
    task=Words(
        "Dot-product attention of one decoder state over the encoder's (Luong et al., 2015):\n"
        "weights = softmax over the source of enc_H @ dec_h, not scaled; context = weights enc_H.\n"
        "dec_h: (hidden,); enc_H: (S, hidden); or with a batch axis: (B, hidden), (B, S, hidden).\n"
        "Returns: (context, weights), of shapes (hidden,) and (S,).",
        "デコーダの 1 つの状態から、"
        "エンコーダの各状態を内積で見るアテンションです (Luong ほか 2015):\n"
        "weights = enc_H @ dec_h の原文方向の softmax (割らない)、context = weights @ enc_H。\n"
        "dec_h: (hidden,)、enc_H: (S, hidden)。バッチなら (B, hidden) と (B, S, hidden)。\n"
        "返り値: (context, weights)、形は (hidden,) と (S,)。",
    ),
    right=right,
    returns=("context", "weights"),
    steps={
        "scores": scores,
        "scaled": lambda scores, dec_h: scores,
        "weights": softmax,
        "context": context,
        "shown": lambda weights, scores: weights,
    },
    probes=probes,
    batched=("dec_h", "enc_H"),
    variants=(SCALED,),
    mistakes=(
        *WEIGHING,
        OVER_BATCH,
        _slip(
            "attn-no-softmax",
            {"weights": lambda scores: scores},
            "the scores themselves are the weights: softmax is missing",
            "スコアをそのまま重みにしています (softmax がありません)",
        ),
        _slip(
            "attn-mean",
            {"weights": lambda scores: np.full(scores.shape, 1 / scores.shape[-1])},
            "every encoder state gets the same weight",
            "エンコーダの状態すべてに同じ重みを付けています",
        ),
        _slip(
            "attn-hard",
            {"weights": lambda scores: (scores == scores.max(-1, keepdims=True)) * 1.0},
            "only the best state is taken (argmax); the weights are to be soft",
            "最大の状態だけを取っています (argmax)。重みは滑らかにします",
        ),
        _slip(
            "attn-scores-shown",
            {"shown": lambda weights, scores: scores},
            "the scores are returned in place of the weights",
            "重みではなくスコアを返しています",
        ),
        _slip(
            "attn-log-weights",
            {"shown": lambda weights, scores: np.log(weights)},
            "logarithms of the weights are returned",
            "重みの対数を返しています",
        ),
        _slip(
            "attn-context-of-decoder",
            {"context": lambda weights, enc_H, dec_h: dec_h},
            "the context is the decoder's own state",
            "文脈がデコーダ自身の状態です",
        ),
        _slip(
            "attn-context-added",
            {"context": lambda weights, enc_H, dec_h: context(weights, enc_H, dec_h) + dec_h},
            "the decoder's state is added to the context; that comes later",
            "文脈にデコーダの状態を足しています。それは後の段階です",
        ),
        _slip(
            "attn-context-mean",
            {"context": lambda weights, enc_H, dec_h: enc_H.mean(-2)},
            "the context is the plain mean: the weights are not used",
            "文脈が単なる平均で、重みが使われていません",
        ),
    ),
)
