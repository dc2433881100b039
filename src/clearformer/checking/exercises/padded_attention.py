"""Attention in seq2seq over sentences of different length: padding gets no weight."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from clearformer.checking.exercise import Exercise, Mistake
from clearformer.checking.exercises.seq2seq_attention import context, scores
from clearformer.checking.families.softmaxing import softmax
from clearformer.checking.probe import Probe, normal
from clearformer.checking.words import Words


def right(step: Any, dec_h: Any, enc_H: Any, lengths: Any) -> Any:
    """softmax over each sentence's own length; context = Σ weights · enc_H."""
    weights = step.weights(step.hidden(scores(dec_h, enc_H), lengths, enc_H))
    return context(step.after(weights, lengths), enc_H, dec_h), step.after(weights, lengths)


def padding(scores: Any, lengths: Any) -> Any:
    """True where a sentence has ended."""
    return np.arange(scores.shape[-1]) >= np.asarray(lengths)[:, None]


def hidden(scores: Any, lengths: Any, enc_H: Any) -> Any:
    """-inf where there is padding."""
    return np.where(padding(scores, lengths), -np.inf, scores)


def probes() -> Sequence[Probe]:
    """What stands in the padding is not 0: a trained encoder writes there, too."""
    return tuple(
        Probe(
            name,
            {
                "dec_h": normal(seed, B, d, scale=0.8),
                "enc_H": normal(seed + 1, B, S, d),
                "lengths": np.array(lengths),
            },
        )
        for name, seed, B, S, d, lengths in (
            ("3 sentences", 621, 3, 5, 4, [5, 2, 3]),
            ("4 sentences", 631, 4, 6, 3, [1, 6, 4, 2]),
            ("as many as long", 641, 4, 4, 5, [4, 3, 1, 2]),
        )
    )


WHY = Words(
    "what is translated must not depend on how much padding stands behind.",
    "後ろの詰め物の量で訳が変わってはいけません。",
)
ASK = Words(
    "what weight does a place behind the end of a sentence get?",
    "文末より後ろの場所の重みはいくつですか。",
)
FIX = Words(
    "put −inf on the scores at and beyond each length, before the softmax.",
    "softmax の前に、長さ以降のスコアを −inf にしてください。",
)
CODE = "scores = np.where(np.arange(S) >= lengths[:, None], -np.inf, scores)"


def _slip(key: str, change: Any, en: str, ja: str) -> Mistake:
    return Mistake(key, change, Words(en, ja), WHY, ASK, FIX, CODE)


EXERCISE = Exercise(
    name="padded_attention",
    title=Words("Attention over padded sentences", "詰め物のある文への注意"),
    task=Words(
        "seq2seq_attention for a batch of sentences of different length: places at and beyond\n"
        "lengths[b] are padding and get weight 0. dec_h: (B, hidden); enc_H: (B, S, hidden);\n"
        "lengths: whole numbers (B,), each from 1 to S. Scores are enc_H · dec_h, not scaled.\n"
        "Returns: (context, weights), of shapes (B, hidden) and (B, S).",
        "長さの違う文に対する seq2seq_attention です。lengths[b] 以降は詰め物で、重みは 0。\n"
        "dec_h: (B, hidden)、enc_H: (B, S, hidden)、lengths: 整数 (B,)、1 から S。\n"
        "スコアは enc_H · dec_h (割らない)。\n"
        "返り値: (context, weights)、形は (B, hidden) と (B, S)。",
    ),
    right=right,
    returns=("context", "weights"),
    steps={"hidden": hidden, "weights": softmax, "after": lambda weights, lengths: weights},
    probes=probes,
    mistakes=(
        _slip(
            "attn-sees-padding",
            {"hidden": lambda scores, lengths, enc_H: scores},
            "padding is attended: lengths are not used",
            "詰め物を見ています。lengths が使われていません",
        ),
        _slip(
            "attn-padding-after",
            {
                "hidden": lambda scores, lengths, enc_H: scores,
                "after": lambda weights, lengths: np.where(padding(weights, lengths), 0, weights),
            },
            "padding is set to 0 after the softmax: weights add up to less than 1",
            "softmax の後で詰め物を 0 にしており、重みの和が 1 より小さくなります",
        ),
        _slip(
            "mask-zero-fill",
            {
                "hidden": lambda scores, lengths, enc_H: np.where(
                    padding(scores, lengths), 0, scores
                )
            },
            "scores of padding are set to 0, and exp(0) is 1",
            "詰め物のスコアを 0 にしています (exp(0) は 1 です)",
        ),
        _slip(
            "mask-inverted",
            {
                "hidden": lambda scores, lengths, enc_H: np.where(
                    padding(scores, lengths), scores, -np.inf
                )
            },
            "the mask is turned round: only padding is attended",
            "マスクが逆で、詰め物だけを見ています",
        ),
        _slip(
            "attn-length-off-by-one",
            {
                "hidden": lambda scores, lengths, enc_H: hidden(
                    scores, np.asarray(lengths) + 1, enc_H
                )
            },
            "one place of padding is still attended",
            "詰め物が 1 か所残っています",
        ),
        _slip(
            "attn-length-short",
            {
                "hidden": lambda scores, lengths, enc_H: hidden(
                    scores, np.maximum(np.asarray(lengths) - 1, 1), enc_H
                )
            },
            "the last word of each sentence is hidden, too",
            "各文の最後の語まで隠しています",
        ),
        _slip(
            "attn-softmax-over-batch",
            {"weights": lambda scores: softmax(scores, 0)},
            "softmax over the batch: weights of one sentence do not sum to 1",
            "softmax がバッチ方向です。1 文の重みの和が 1 になりません",
        ),
        _slip(
            "attn-first-length",
            {
                "hidden": lambda scores, lengths, enc_H: hidden(
                    scores, [lengths[0]] * len(lengths), enc_H
                )
            },
            "the first sentence's length is used for all",
            "最初の文の長さをすべての文に使っています",
        ),
    ),
)
