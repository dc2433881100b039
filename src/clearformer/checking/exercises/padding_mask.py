"""Padding mask: which places hold a real token."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from clearformer.checking.exercise import Exercise, Mistake, Variant
from clearformer.checking.probe import Probe
from clearformer.checking.words import Words


def right(step: Any, ids: Any, pad_id: Any) -> Any:
    """True where a token is real."""
    return step.shaped(step.real(ids, pad_id), ids)


def probes() -> Sequence[Probe]:
    """Padding behind and in front, other pad ids than 0, a real token 0, and rows without any."""
    return (
        Probe("3 rows of 5", {"ids": np.array([[5, 0, 7, 9, 9], [8, 3, 9, 9, 9], [2, 4, 6, 0, 1]]),
                              "pad_id": 9}),
        Probe("padding 0", {"ids": np.array([[3, 1, 4, 0], [5, 2, 0, 0], [6, 5, 3, 5]]),
                            "pad_id": 0}),
        Probe("padding in front", {"ids": np.array([[4, 4, 4, 1, 0, 7], [4, 3, 5, 2, 0, 6],
                                                    [4, 4, 0, 5, 8, 1]]), "pad_id": 4}),
        Probe("padding -1", {"ids": np.array([[0, 2, -1, -1, -1], [1, 0, 3, 5, -1],
                                              [2, 2, 0, -1, -1], [7, 0, 5, 6, 4]]), "pad_id": -1}),
        Probe("4 rows of 4", {"ids": np.array([[1, 3, 3, 3], [0, 2, 3, 3], [0, 1, 2, 3],
                                               [4, 0, 1, 2]]), "pad_id": 3}),
    )  # fmt: skip


def _count(mask: Any) -> Any:
    return mask.sum(-1, keepdims=True)


def _until_first(ids: Any, pad_id: Any) -> Any:
    return np.cumsum(ids == pad_id, -1) == 0


FROM_VALUES = tuple(
    Mistake(
        "pad-from-values",
        {"real": step},
        Words(
            "padding is guessed (0 or below), whatever pad_id is",
            "pad_id を使わず、0 以下をパディングとみなしています",
        ),
        Words(
            "0 can be a real token, which would be hidden.",
            "0 が本物のトークンのこともあり、それが隠れてしまいます。",
        ),
        Words("where in your code does pad_id appear?", "pad_id はどこに出てきますか。"),
        Words("compare with pad_id.", "pad_id と比べてください。"),
        "mask = ids != pad_id",
    )
    for step in (lambda ids, pad_id: ids != 0, lambda ids, pad_id: ids > 0)
)

MISTAKES = (
    Mistake(
        "mask-inverted",
        {"real": lambda ids, pad_id: ids == pad_id},
        Words(
            "True stands at the padding; here True means a real token",
            "パディングが True になっています。ここでは True が本物の印です",
        ),
        Words(
            "attention would look at the padding and at nothing else.",
            "アテンションがパディングだけを見ることになります。",
        ),
        Words("does True in your mask mean keep or hide?", "True は残す印ですか、隠す印ですか。"),
        Words("turn the comparison round.", "比べ方を逆にしてください。"),
        "mask = ids != pad_id",
    ),
    *FROM_VALUES,
    Mistake(
        "pad-as-order",
        {"real": lambda ids, pad_id: ids < pad_id},
        Words(
            "tokens with a larger id than pad_id count as padding, too",
            "pad_id より大きい id もパディングになっています",
        ),
        Words("ids are names, not sizes.", "id は名前であり、大小に意味はありません。"),
        Words(
            "which ids are padding: one, or many?",
            "パディングの id は 1 つですか、いくつもですか。",
        ),
        Words("compare for equality.", "等しいかどうかで比べてください。"),
        "mask = ids != pad_id",
    ),
    *(
        Mistake(
            "pad-assumed-behind",
            {"real": step},
            Words(
                "padding is taken to stand behind the text; here it stands in front, too",
                "パディングが後ろにあると決めつけています。前にあることもあります",
            ),
            Words(
                "when several texts are continued at once, padding is put in front.",
                "複数の文を同時に続けるときは、パディングを前に置きます。",
            ),
            Words("what if a row begins with padding?", "行がパディングで始まるとどうなりますか。"),
            Words("look at each place by itself.", "場所ごとに調べてください。"),
            "mask = ids != pad_id",
        )
        for step in (
            lambda ids, pad_id: np.arange(ids.shape[-1]) < _count(ids != pad_id),
            _until_first,
        )
    ),
    *(
        Mistake(
            "pad-as-table",
            {"shaped": step},
            Words(
                "a table of places by places is returned; one row for each text was asked for",
                "場所×場所の表を返しています。文ごとに 1 行だけ求めています",
            ),
            Words(
                "rows of padding would have nothing to look at, and become NaN.",
                "パディングの行は見るものがなくなり NaN になります。",
            ),
            Words("what shape is asked for?", "求められている形は何ですか。"),
            Words("return a mask of the shape of ids.", "ids と同じ形のマスクを返してください。"),
            "mask = ids != pad_id",
        )
        for step in (
            lambda mask, ids: mask[..., None] & mask[..., None, :],
            lambda mask, ids: np.repeat(mask[..., None, :], ids.shape[-1], -2),
        )
    ),
    Mistake(
        "pad-zeroed-ids",
        {"shaped": lambda mask, ids: np.where(mask, ids, 0)},
        Words(
            "the ids are returned with padding set to 0, not a mask",
            "マスクではなく、パディングを 0 にした id を返しています",
        ),
        Words("0 can be a real token.", "0 は本物のトークンのこともあります。"),
        Words("which two values can a mask hold?", "マスクに入る値は何と何ですか。"),
        Words("return True and False.", "True と False を返してください。"),
        "mask = ids != pad_id",
    ),
)

VARIANTS = (
    Variant(
        "mask-for-keys",
        {"shaped": lambda mask, ids: mask[..., None, :]},
        Words(
            "with an axis for the queries, ready to be laid over the scores",
            "クエリの軸付き: そのままスコアに重ねられます",
        ),
    ),
    Variant(
        "mask-for-heads",
        {"shaped": lambda mask, ids: mask[..., None, None, :]},
        Words(
            "with axes for heads and queries, ready to be laid over the scores",
            "ヘッドとクエリの軸付き: そのままスコアに重ねられます",
        ),
    ),
    Variant(
        "mask-to-add",
        {"shaped": lambda mask, ids: np.where(mask, 0.0, -np.inf)},
        Words(
            "0 and −inf, to be added to the scores",
            "0 と −inf: スコアに足す形です",
        ),
    ),
)

EXERCISE = Exercise(
    name="padding_mask",
    title=Words("Padding mask", "パディングマスク"),
    task=Words(
        "Texts of different length are filled up with pad_id. Say which places are real:\n"
        "True for a real token, False for padding, on whichever side it stands.\n"
        "ids: (B, T), whole numbers; 0 is a real token unless pad_id is 0. pad_id: a number.\n"
        "Returns: (B, T), True and False (or 1 and 0).",
        "長さの違う文は pad_id で埋めてそろえます。どこが本物かを答えます:\n"
        "本物のトークンは True、パディングは False。パディングは前にも後ろにもあります。\n"
        "ids: (B, T) の整数。pad_id が 0 でなければ 0 は本物です。pad_id: 1 つの数。\n"
        "返り値: (B, T) の True と False (1 と 0 でも可)。",
    ),
    right=right,
    steps={"real": lambda ids, pad_id: ids != pad_id, "shaped": lambda mask, ids: mask},
    probes=probes,
    mistakes=MISTAKES,
    variants=VARIANTS,
)
