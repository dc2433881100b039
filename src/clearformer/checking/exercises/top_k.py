"""Top-k: only the k most likely tokens may come."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from clearformer.checking.exercise import Case, Exercise, Mistake
from clearformer.checking.families.sampling import LAST, TWICE
from clearformer.checking.families.softmaxing import softmax
from clearformer.checking.probe import Probe, normal
from clearformer.checking.words import Words


def right(step: Any, logits: Any, k: Any) -> Any:
    """softmax over the k largest logits; all others have probability 0."""
    keep = step.chosen(logits, step.number(k))
    return step.finished(step.weights(step.cut(logits, keep)), keep)


def chosen(logits: Any, k: int) -> Any:
    """True at the k largest."""
    return logits >= np.sort(logits, -1)[..., -min(k, logits.shape[-1]), None]


def _smallest(logits: Any, k: int) -> Any:
    return chosen(-logits, k)


def cut(logits: Any, keep: Any) -> Any:
    """-inf at all that may not come."""
    return np.where(keep, logits, -np.inf)


def probes() -> Sequence[Probe]:
    """Unsorted; all below 0, all above 0; k = 1; all of them."""
    return (
        _of("3 of 7", normal(1, 7, scale=1.5), 3),
        _of("2 of 5, all below 0", normal(2, 5) - 4, 2),
        _of("1 of 6", normal(3, 6), 1),
        _of("4 of 8, all above 0", normal(4, 8) + 5, 4),
        _of("4 of 4", normal(5, 4, scale=1.5), 4),
        _of("k above V", normal(6, 4), 9, role="stress", says=Words("k above V", "V より大きい k")),
        _of(
            "logits of 1,000",
            np.array([1000.0, 997.0, -1000.0, 998.0, 999.0]),
            3,
            role="stress",
            says=Words("logits of ±1,000", "±1,000 の logits"),
        ),
    )


def _of(name: str, logits: Any, k: int, **more: Any) -> Probe:
    return Probe(name, {"logits": logits, "k": k}, **more)


def _left(cases: Mapping[str, Case]) -> Words | None:
    mine = cases["2 of 5, all below 0"].mine["output"]
    count, total = int((mine > 0).sum()), float(mine.sum())
    if count == 2 and np.isclose(total, 1):
        return None
    return Words(
        f"tokens left with k = 2: {count}; together they have {total:.3f}.",
        f"k = 2 で残ったトークン: {count}、その確率の合計: {total:.3f}。",
    )


CHOICE = Words(
    "exactly k tokens may come, and their probabilities sum to 1.",
    "選べるのはちょうど k 個のトークンで、その確率の和は 1 です。",
)
COUNT = Words(
    "how many numbers above 0 are in your result?", "結果の中に 0 より大きい数はいくつありますか。"
)
CUT = Words(
    "put −inf on all logits but the k largest, then take softmax.",
    "大きいほうから k 個以外の logits を −inf にし、softmax を取ってください。",
)
LINE = "softmax(np.where(logits >= np.sort(logits)[-min(k, V)], logits, -np.inf))"


def _mistake(key: str, change: Mapping[str, Any], found: Words, ask: Words = COUNT) -> Mistake:
    return Mistake(key, change, found, CHOICE, ask, CUT, LINE, _left)


EXERCISE = Exercise(
    name="top_k",
    title=Words("Top-k", "top-k"),
    task=Words(
        "Only the k largest logits may come: the probabilities are softmax over these k alone, "
        "and exactly 0 for all others, each in its own place.\n"
        "logits: (V,), no two alike; batch axes may stand in front. k: from 1; above V: all.\n"
        "Returns: probabilities, the shape of logits; they sum to 1.",
        "大きいほうから k 個の logits だけを残します。確率はその k 個だけの softmax で、"
        "それ以外はちょうど 0、場所は元のままです。\n"
        "logits: (V,)、同じ値なし、前にバッチの軸があっても可。k: 1 以上、V より大きければ全部。\n"
        "返り値: logits と同じ形の確率 (和は 1)。",
    ),
    right=right,
    steps={
        "number": lambda k: k,
        "chosen": chosen,
        "cut": cut,
        "weights": softmax,
        "finished": lambda shares, keep: shares,
    },
    probes=probes,
    mistakes=(
        _mistake(
            "topk-fill",
            {"cut": lambda logits, keep: np.where(keep, logits, 0.0)},
            Words(
                "the others' logits are set to 0 (or nearly), and exp(0) is 1",
                "残さない logits を 0 (かほぼ 0) にしています (exp(0) は 1 です)",
            ),
            Words(
                "what does softmax make of the number you filled in?",
                "埋めた数は softmax で何になりますか。",
            ),
        ),
        _mistake(
            "topk-ignored",
            {"chosen": lambda logits, k: np.ones(logits.shape, bool)},
            Words(
                "k has no effect: every token may come", "k が効いておらず、どのトークンも選べます"
            ),
        ),
        _mistake(
            "topk-smallest",
            {"chosen": _smallest},
            Words(
                "the k smallest are kept, not the largest",
                "大きいほうではなく、小さいほうから k 個を残しています",
            ),
            Words("in which direction does your sort run?", "並べ替えの向きはどちらですか。"),
        ),
        _mistake(
            "topk-one-more",
            {"number": lambda k: k + 1},
            Words("k + 1 tokens are kept", "k + 1 個のトークンを残しています"),
        ),
        _mistake(
            "topk-one-less",
            {"chosen": lambda logits, k: logits > np.sort(logits, -1)[..., -k, None]},
            Words(
                "k − 1 tokens are kept: > where ≥ is needed",
                "k − 1 個しか残していません (≥ とすべきところが > です)",
            ),
        ),
        *(
            _mistake(
                "topk-shortened",
                {"cut": kept},
                Words(
                    "only the k that are kept are returned: which ids they are is lost",
                    "残した k 個だけを返しており、どの id の確率か分からなくなっています",
                ),
                Words(
                    "whose probability is number 0 of your result?",
                    "結果の 0 番目はどのトークンの確率ですか。",
                ),
            )
            for kept in (
                lambda logits, keep: logits[keep],
                lambda logits, keep: np.sort(logits[keep]),
                lambda logits, keep: np.sort(logits[keep])[::-1],
            )
        ),
        _mistake(
            "topk-not-renormalised",
            {
                "cut": lambda logits, keep: logits,
                "finished": lambda shares, keep: np.where(keep, shares, 0.0),
            },
            Words(
                "probabilities are cut after softmax and not made to sum to 1 again",
                "softmax の後で切り捨て、和を 1 に戻していません",
            ),
            Words("what do your probabilities add up to?", "確率の和はいくつですか。"),
        ),
        _mistake(
            "topk-order",
            {"finished": lambda shares, keep: -np.sort(-shares, -1)},
            Words(
                "the probabilities stand in sorted order, not in the places of their ids",
                "確率が並べ替えた順のままで、元の id の場所に戻っていません",
            ),
            Words(
                "whose probability is number 0 of your result?",
                "結果の 0 番目はどのトークンの確率ですか。",
            ),
        ),
        _mistake(
            "topk-uniform",
            {"cut": lambda logits, keep: np.where(keep, 0.0, -np.inf)},
            Words(
                "the k tokens all get the same probability, 1/k",
                "k 個のトークンがすべて同じ確率 1/k になっています",
            ),
            Words(
                "where do the logits' own values go?", "logits の値そのものはどこで使われますか。"
            ),
        ),
        _mistake(
            "topk-returns-logits",
            {"weights": lambda scores: scores},
            Words(
                "the logits that are left are returned, without softmax",
                "残った logits を softmax にかけずに返しています",
            ),
            Words("what does your result add up to?", "結果の和はいくつですか。"),
        ),
        TWICE,
        *LAST,
    ),
    batched=("logits",),
)
