"""Scores: each query compared with each key."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from clearformer.checking.exercise import Exercise, Mistake
from clearformer.checking.families.projecting import PROJECTING, products, slips_in
from clearformer.checking.families.softmaxing import softmax
from clearformer.checking.probe import Probe, normal
from clearformer.checking.words import Words


def right(step: Any, Q: Any, K: Any) -> Any:
    """Q Kᵀ."""
    return step.after(step.products(Q, K), Q)


def probes() -> Sequence[Probe]:
    """More keys than queries, and fewer; as many, where an exchange goes unseen by shape."""
    return (
        Probe("4 queries, 6 keys", {"Q": normal(11, 4, 3), "K": normal(12, 6, 3)}),
        Probe("5 queries, 3 keys", {"Q": normal(21, 5, 4), "K": normal(22, 3, 4)}),
        Probe("5 of both", {"Q": normal(31, 5, 3), "K": normal(32, 5, 3)}),
        Probe("as many as their width", {"Q": normal(41, 4, 4), "K": normal(42, 4, 4)}),
        Probe("the keys themselves", {"Q": np.eye(5), "K": normal(52, 3, 5)}),
    )


def _unit(table: Any) -> Any:
    return table / np.linalg.norm(table, axis=-1, keepdims=True)


ALL_PAIRS = Words("what shape should the scores have?", "スコアの形は何になるはずですか。")
PRODUCT = Words(
    "multiply the queries with the keys transposed, nothing more.",
    "クエリに、転置したキーを掛けるだけです。",
)
LINE = "scores = Q @ K.swapaxes(-1, -2)"


def _slip(key: str, change: Any, found: Words, why: Words, ask: Words = ALL_PAIRS) -> Mistake:
    return Mistake(key, change, found, why, ask, PRODUCT, LINE)


SLIPS = (
    _slip(
        "scores-diagonal",
        {"products": lambda Q, K: (Q * K).sum(-1)},
        Words(
            "each query is compared with one key only, the one at its own place",
            "各クエリが同じ場所のキー 1 つとしか比べられていません",
        ),
        Words("a token has to see all others.", "トークンは他のすべてを見る必要があります。"),
    ),
    _slip(
        "scores-of-features",
        {"products": lambda Q, K: Q.swapaxes(-1, -2) @ K},
        Words(
            "Qᵀ K compares columns with columns, not tokens with tokens",
            "Qᵀ K ではトークンどうしでなく列どうしを比べています",
        ),
        Words("a score belongs to a pair of tokens.", "スコアは 2 つのトークンの組のものです。"),
    ),
    *(
        _slip(
            "scores-of-one-table",
            {"products": version},
            Words(
                "one table is compared with itself; the other is never used",
                "片方の表をそれ自身と比べており、もう片方が使われていません",
            ),
            Words(
                "what a token asks for and by what it is found are two things.",
                "尋ねるものと見つけられるものは別です。",
            ),
            Words("where in your code do Q and K appear?", "Q と K はどこに出てきますか。"),
        )
        for version in (lambda Q, K: products(Q, Q), lambda Q, K: products(K, K))
    ),
    _slip(
        "scores-cosine",
        {"products": lambda Q, K: products(_unit(Q), _unit(K))},
        Words(
            "rows are brought to length 1 first (cosine): their lengths are lost",
            "先に各行を長さ 1 にしており (コサイン)、長さが失われています",
        ),
        Words(
            "a long query asks more firmly; the length is part of the score.",
            "長いクエリほど強く尋ねます。長さもスコアの一部です。",
        ),
        Words("what becomes of a query twice as long?", "クエリを 2 倍にするとどうなりますか。"),
    ),
    _slip(
        "scores-scaled-already",
        {"after": lambda scores, Q: scores / np.sqrt(Q.shape[-1])},
        Words(
            "already divided by √d; here the plain products are asked for",
            "すでに √d で割っています。ここでは積そのものを求めます",
        ),
        Words(
            "scaling comes next; done twice it would flatten the weights.",
            "割るのは次の段階です。2 回割ると重みが平らになります。",
        ),
        Words(
            "what does the task ask for, before any scale?", "課題が求めるのは割る前の何ですか。"
        ),
    ),
    _slip(
        "scores-softmaxed",
        {"after": lambda scores, Q: softmax(scores)},
        Words(
            "softmax was taken already; scores can be any number",
            "すでに softmax を取っています。スコアは任意の数です",
        ),
        Words(
            "mask and scale need the scores before the softmax.",
            "マスクと割り算は softmax の前のスコアに行います。",
        ),
        Words("do scores add up to 1?", "スコアの和は 1 になりますか。"),
    ),
)

EXERCISE = Exercise(
    name="attention_scores",
    title=Words("Attention scores", "アテンションのスコア"),
    task=Words(
        "Compare each query with each key: the dot product of their rows, Q Kᵀ, not yet scaled.\n"
        "Q: (T, d), K: (S, d), with the same batch axes before them or none.\n"
        "Returns: (T, S); row t holds the scores of query t.",
        "各クエリを各キーと比べます: 行どうしの内積 Q Kᵀ。まだ √d では割りません。\n"
        "Q: (T, d)、K: (S, d)。前に同じバッチの軸があっても可。\n"
        "返り値: (T, S)。t 行目はクエリ t のスコアです。",
    ),
    right=right,
    steps={"products": products, "after": lambda scores, Q: scores},
    probes=probes,
    mistakes=(*slips_in(PROJECTING, "products"), *SLIPS),
    batched=("Q", "K"),
)
