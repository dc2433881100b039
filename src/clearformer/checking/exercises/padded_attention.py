"""Attention in seq2seq over sentences of different length: padding gets no weight."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from clearformer.checking.exercise import Exercise
from clearformer.checking.exercises.seq2seq_attention import OVER_BATCH, SCALED, context, scores
from clearformer.checking.families.masking import kept
from clearformer.checking.families.padding import FILLING, PADDING, hidden
from clearformer.checking.families.softmaxing import softmax
from clearformer.checking.probe import Probe, normal
from clearformer.checking.words import Words


def right(step: Any, dec_h: Any, enc_H: Any, lengths: Any) -> Any:
    """softmax over each sentence's own length; context = Σ weights · enc_H."""
    table = step.scaled(scores(dec_h, enc_H), dec_h)[:, None, None]  # one head and one query each
    weights = step.weights(step.hidden(table, lengths, enc_H[:, None], enc_H[:, None]))
    weights = step.hidden_after(weights, lengths)[:, 0, 0]
    return context(weights, enc_H, dec_h), weights


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
            ("padding behind all", 646, 3, 7, 4, [4, 5, 3]),
        )
    )


FIX = Words(
    "put −inf on the scores at and beyond each length, before the softmax.",
    "softmax の前に、長さ以降のスコアを −inf にしてください。",
)
CODE = "scores = np.where(np.arange(S) >= lengths[:, None], -np.inf, scores)"
HERE = (
    "attn-sees-padding",
    "mask-inverted",
    "pad-one-length",
    "pad-one-late",
    "pad-one-early",
)
"""Of slips in hiding padding those that one query can show."""

EXERCISE = Exercise(
    name="padded_attention",
    title=Words("Attention over padded sentences", "パディングのある文へのアテンション"),
    task=Words(
        "seq2seq_attention for a batch of sentences of different length: places at and beyond "
        "lengths[b] are padding and get weight 0. dec_h: (B, hidden); enc_H: (B, S, hidden); "
        "lengths: whole numbers (B,), each from 1 to S. Scores are enc_H · dec_h, not scaled.\n"
        "Returns: (context, weights), of shapes (B, hidden) and (B, S).",
        "長さの違う文に対する seq2seq_attention です。lengths[b] 以降はパディングで、重みは 0。\n"
        "dec_h: (B, hidden)、enc_H: (B, S, hidden)、lengths: 整数 (B,)、1 から S。"
        "スコアは enc_H · dec_h (スケーリングなし)。\n"
        "返り値: (context, weights)、形は (B, hidden) と (B, S)。",
    ),
    right=right,
    returns=("context", "weights"),
    steps={
        "scaled": lambda scores, dec_h: scores,
        "hidden": hidden,
        "weights": softmax,
        "hidden_after": kept,
    },
    probes=probes,
    variants=(SCALED,),
    mistakes=(
        *(replace(each, fix=FIX, code=CODE) for each in PADDING if each.key in HERE),
        *(replace(each, fix=FIX, code=CODE) for each in FILLING),
        OVER_BATCH,
    ),
    ties=(frozenset({"mask-zero-fill", "mask-fill-tiny"}),),
)
