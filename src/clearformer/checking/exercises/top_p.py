"""Top-p (nucleus sampling): only the most likely tokens that together reach p."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from clearformer.checking.exercise import Case, Exercise, Mistake
from clearformer.checking.families.softmaxing import softmax
from clearformer.checking.probe import Probe, normal
from clearformer.checking.words import Words


def right(step: Any, probs: Any, p: Any) -> Any:
    """The fewest of the largest whose sum reaches p, divided by their sum; 0 elsewhere."""
    order = step.order(probs)
    ranked = np.take_along_axis(probs, order, -1)
    keep = step.placed(step.kept(np.cumsum(ranked, -1), ranked, p), order)
    return step.finished(np.where(keep, probs, 0.0), order)


def descending(probs: Any) -> Any:
    """Ids from the most likely to the least."""
    return np.argsort(-probs, -1)


def kept(total: Any, ranked: Any, p: Any) -> Any:
    """True as long as those before have not reached p."""
    return total - ranked < p


def placed(keep: Any, order: Any) -> Any:
    """Back from ranks to the places of the ids."""
    found = np.zeros_like(keep)
    np.put_along_axis(found, order, keep, -1)
    return found


def finished(cut: Any, order: Any) -> Any:
    """So that the sum is 1 again."""
    return cut / cut.sum(-1, keepdims=True)


def probes() -> Sequence[Probe]:
    """Unsorted, and p never reached exactly; p below the largest, and p = 1."""
    return (
        _of("two reach 0.9", np.array([0.09, 0.5, 0.41]), 0.9),
        _of("6 tokens", np.array([0.1, 0.23, 0.05, 0.31, 0.12, 0.19]), 0.6),
        _of("7 tokens", softmax(normal(1, 7, scale=1.5)), 0.8),
        _of("p below the largest", np.array([0.2, 0.1, 0.45, 0.25]), 0.3),
        _of("p = 1", np.array([0.125, 0.375, 0.0625, 0.25, 0.1875]), 1.0),
        _of("8 tokens", softmax(normal(3, 8)), 0.7),
        _of(
            "one has nearly all",
            np.array([1e-9, 1 - 4e-9, 3e-9]),
            0.95,
            role="stress",
            says=Words("one token with nearly all probability", "確率がほぼ 1 のトークン"),
        ),
    )


def _of(name: str, probs: Any, p: float, **more: Any) -> Probe:
    return Probe(name, {"probs": probs, "p": p}, **more)


def _least_one(total: Any, ranked: Any, p: Any) -> Any:
    return (total <= p) | (np.arange(total.shape[-1]) == 0)


def _below(total: Any, ranked: Any, p: Any) -> Any:
    """As many as there are sums below p: `n = (np.cumsum(ranked) < p).sum()`."""
    return total < p


def _below_or_one(total: Any, ranked: Any, p: Any) -> Any:
    return (total < p) | (np.arange(total.shape[-1]) == 0)


def _argmax(total: Any, ranked: Any, p: Any) -> Any:
    first = (total > p).argmax(-1)[..., None]
    return np.arange(total.shape[-1]) <= first


def _one_more(total: Any, ranked: Any, p: Any) -> Any:
    count = kept(total, ranked, p).sum(-1, keepdims=True)
    return np.arange(total.shape[-1]) <= count


def _left(cases: Mapping[str, Case]) -> Words | None:
    mine, right = (getattr(cases["two reach 0.9"], which)["output"] for which in ("mine", "right"))
    if np.allclose(mine, right, atol=1e-5):
        return _kept_of_all(cases)
    shown = ", ".join(f"{value:.3f}" for value in mine)
    return Words(
        f"of 0.09, 0.5, 0.41 with p = 0.9 you make {shown}; expected 0, 0.549, 0.451.",
        f"0.09, 0.5, 0.41 で p = 0.9 のとき {shown} です。正しくは 0, 0.549, 0.451。",
    )


def _kept_of_all(cases: Mapping[str, Case]) -> Words | None:
    mine = cases["p = 1"].mine["output"]
    count = int((mine > 0).sum())
    if count == mine.size:
        return None
    return Words(
        f"with p = 1 you keep {count} of {mine.size} tokens; expected all.",
        f"p = 1 で {mine.size} 個のうち {count} 個のトークンしか残っていません (正しくは全部)。",
    )


NUCLEUS = Words(
    "the tokens that are kept must together have at least p, and no more than needed.",
    "残すのは、確率の合計が p 以上になる最小限のトークンです。",
)
BY_HAND = Words(
    "by hand: which of 0.09, 0.5, 0.41 remain with p = 0.9?",
    "手計算で: 0.09, 0.5, 0.41 のうち p = 0.9 で残るのはどれですか。",
)
CROSSING = Words(
    "keep a token as long as those before it have not reached p.",
    "手前までの合計が p に達していないトークンを残してください。",
)
LINE = "keep = np.cumsum(ranked) - ranked < p"
IDS = Words(
    "put what is kept back into the places of the ids.",
    "残したものを元の id の場所に戻してください。",
)
BACK = "keep[order] = kept"


def _kept(key: str, step: Any, found: Words) -> Mistake:
    return Mistake(key, {"kept": step}, found, NUCLEUS, BY_HAND, CROSSING, LINE, _left)


def _order(change: Mapping[str, Any], found: Words) -> Mistake:
    why = Words(
        "each probability belongs to one id; another place is another word.",
        "確率はそれぞれ 1 つの id のもので、場所が違えば別のトークンになります。",
    )
    ask = Words(
        "whose probability is number 0 of your result?", "結果の 0 番目はどのトークンの確率ですか。"
    )
    return Mistake("topp-order", change, found, why, ask, IDS, BACK, _left)


EXERCISE = Exercise(
    name="top_p",
    title=Words("Top-p (nucleus sampling)", "top-p (nucleus サンプリング)"),
    task=Words(
        "Only the most likely tokens that together reach p may come: from the largest down, until "
        "their sum is p or more; the one that crosses p is kept. All others get exactly 0, and "
        "the kept ones are divided by their sum. p = 1 keeps all.\n"
        "probs: (V,), probabilities, in any order; batch axes may stand in front. 0 < p ≤ 1.\n"
        "Returns: probabilities in the places of their ids, the shape of probs.",
        "合計が p に達するまで、確率の高い順にトークンを残します。p をまたぐトークンも残します。"
        "それ以外はちょうど 0 にし、残したものはその合計で割ります。p = 1 なら全部残ります。\n"
        "probs: (V,)、確率、順不同。前にバッチの軸があっても可。0 < p ≤ 1。\n"
        "返り値: 元の id の場所に置いた確率 (probs と同じ形)。",
    ),
    right=right,
    steps={"order": descending, "kept": kept, "placed": placed, "finished": finished},
    probes=probes,
    mistakes=(
        _kept(
            "topp-drops-crossing",
            _least_one,
            Words(
                "the token that crosses p is dropped: what is left has less than p",
                "p をまたぐトークンを落としており、残りの合計が p に足りません",
            ),
        ),
        _kept(
            "topp-drops-crossing",
            lambda total, ranked, p: total <= p,
            Words(
                "the token that crosses p is dropped, even where nothing else is left (0/0)",
                "p をまたぐトークンを落としており、何も残らないこともあります (0/0)",
            ),
        ),
        _kept(
            "topp-drops-crossing",
            _below,
            Words(
                "only sums below p count: the token that reaches p is dropped, and may leave none",
                "合計が p 未満のものだけを残し、p に達するトークンを落としています (全部のことも)",
            ),
        ),
        _kept(
            "topp-drops-crossing",
            _below_or_one,
            Words(
                "only sums below p count: the token that reaches p is dropped",
                "合計が p 未満のものだけを残し、p に達するトークンを落としています",
            ),
        ),
        _kept(
            "topp-one",
            _argmax,
            Words(
                "p = 1 leaves only the top token: argmax of only False is 0",
                "p = 1 で最上位のトークンしか残りません (すべて False の argmax は 0)",
            ),
        ),
        _kept(
            "topp-one-more",
            _one_more,
            Words("one token more than needed is kept", "必要より 1 トークン多く残しています"),
        ),
        _kept(
            "topp-ignored",
            lambda total, ranked, p: total > -1,
            Words(
                "p has no effect: every token is kept",
                "p が効いておらず、すべてのトークンが残ります",
            ),
        ),
        _kept(
            "topp-top-one",
            lambda total, ranked, p: np.arange(total.shape[-1]) == 0 * total,
            Words(
                "only the most likely token is ever kept", "最も確率の高いトークンしか残しません"
            ),
        ),
        _kept(
            "topp-threshold",
            lambda total, ranked, p: (ranked > 1 - p) | (np.arange(total.shape[-1]) == 0),
            Words(
                "each token is compared with 1 − p by itself; their sum is not looked at",
                "トークンごとに 1 − p と比べており、合計を見ていません",
            ),
        ),
        Mistake(
            "topp-ascending",
            {"order": lambda probs: np.argsort(probs, -1)},
            Words(
                "sorted from the smallest up: the unlikely tail is kept first",
                "小さい順に並べており、起こりにくいトークンから残しています",
            ),
            NUCLEUS,
            BY_HAND,
            Words("sort from the largest down.", "大きい順に並べてください。"),
            "order = np.argsort(-probs)",
            _left,
        ),
        _order(
            {"finished": lambda cut, order: np.take_along_axis(finished(cut, order), order, -1)},
            Words(
                "the result stands in sorted order, not in the places of the ids",
                "結果が並べ替えた順のままで、元の id の場所に戻っていません",
            ),
        ),
        _order(
            {"placed": lambda keep, order: keep},
            Words(
                "what was decided in sorted order is applied to the unsorted probabilities",
                "並べ替えた順での判定を、元の順の確率に当てはめています",
            ),
        ),
        _order(
            {"placed": lambda keep, order: np.take_along_axis(keep, order, -1)},
            Words(
                "mapped back the wrong way: keep[order] reads where keep[order] = … must write",
                "戻す向きが逆です: keep[order] を読むのではなく、そこへ書き込みます",
            ),
        ),
        Mistake(
            "topp-not-renormalised",
            {"finished": lambda cut, order: cut},
            Words(
                "what is kept is not made to sum to 1 again", "残した確率の和を 1 に戻していません"
            ),
            Words("probabilities must sum to 1.", "確率の和は 1 でなければなりません。"),
            Words("what does your result add up to?", "結果の和はいくつですか。"),
            Words("divide by the sum of what is kept.", "残した確率の合計で割ってください。"),
            "cut / cut.sum()",
            _left,
        ),
        *(
            Mistake(
                "sample-softmax-twice",
                {"finished": step},
                Words(
                    "softmax is taken of what are already probabilities",
                    "すでに確率になっているものに softmax をかけています",
                ),
                Words("the result is much too flat.", "結果が平らになりすぎます。"),
                Words("are probs logits?", "probs は logits ですか。"),
                Words("divide by the sum of what is kept.", "残した確率の合計で割ってください。"),
                "cut / cut.sum()",
                _left,
            )
            for step in (
                lambda cut, order: softmax(cut),
                lambda cut, order: softmax(np.where(cut > 0, cut, -np.inf)),
            )
        ),
    ),
    batched=("probs",),
)
