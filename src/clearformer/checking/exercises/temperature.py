"""Temperature: how sharp or flat the choice of the next token is."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from clearformer.checking.exercise import Case, Exercise, Mistake
from clearformer.checking.families.sampling import LAST, TWICE
from clearformer.checking.families.softmaxing import shares, softmax
from clearformer.checking.probe import Probe, normal
from clearformer.checking.words import Words


def right(step: Any, logits: Any, T: Any) -> Any:
    """softmax(logits / T); at T = 0 all of it on the largest."""
    if T == 0:
        return step.cold(logits)
    return step.weights(step.divided(logits, T))


def greedy(logits: Any) -> Any:
    """1 at the largest logit."""
    return np.eye(logits.shape[-1])[logits.argmax(-1)]


def probes() -> Sequence[Probe]:
    """Temperatures below 1, above 1, and 1."""
    return (
        _of("T = 0.5", normal(1, 5, scale=1.5), 0.5),
        _of("T = 2", normal(2, 7, scale=1.5), 2.0),
        _of("T = 1", normal(3, 4, scale=1.5), 1.0),
        _of("T = 0.7, all below 0", normal(4, 6) - 5, 0.7),
        _of("T = 0.2", normal(7, 4, scale=0.5), 0.2),
        _of("T = 3", normal(5, 8, scale=2), 3.0),
        _of("T = 0", normal(6, 5), 0.0, role="stress", says=Words("T = 0", "T = 0")),
        _of(
            "logits of 1,000",
            np.array([1000.0, 999.0, -1000.0, 998.0]),
            0.8,
            role="stress",
            says=Words("logits of ±1,000", "±1,000 の logits"),
        ),
    )


def _of(name: str, logits: Any, T: float, **more: Any) -> Probe:
    return Probe(name, {"logits": logits, "T": T}, **more)


def _largest(cases: Mapping[str, Case]) -> Words | None:
    case = cases["T = 0.5"]
    mine, right = case.mine["output"].max(), case.right["output"].max()
    return Words(
        f"at T = 0.5 your largest probability is {mine:.3f}; expected {right:.3f}.",
        f"T = 0.5 での最大の確率は {mine:.3f}、正しくは {right:.3f} です。",
    )


SHARPER = Words(
    "below 1 the choice must become sharper, above 1 flatter.",
    "T が 1 より小さければ鋭く、大きければ平らになるはずです。",
)
COLD = Words(
    "what should be left when T goes towards 0?", "T が 0 に近づくと、最後に何が残るはずですか。"
)
DIVIDE = Words(
    "divide the logits by T, once, then take softmax.",
    "logits を T で 1 回割ってから softmax を取ってください。",
)


def _divided(key: str, step: Any, found: Words) -> Mistake:
    return Mistake(
        key, {"divided": step}, found, SHARPER, COLD, DIVIDE, "p = softmax(logits / T)", _largest
    )


def _zero(cold: Any, found: Words) -> Mistake:
    return Mistake(
        "temp-zero",
        {"cold": cold},
        found,
        Words(
            "many programs write T = 0 for “always the most likely”.",
            "T = 0 は「常に最も確率の高いもの」の意味でよく使われます。",
        ),
        Words("what does your code compute for T = 0?", "T = 0 のとき何を計算していますか。"),
        Words(
            "at T = 0 give all probability to the largest logit.",
            "T = 0 では最大の logit に確率をすべて与えてください。",
        ),
        "if T == 0: return np.eye(len(logits))[logits.argmax()]",
        beside=True,
    )


EXERCISE = Exercise(
    name="temperature",
    title=Words("Temperature", "温度"),
    task=Words(
        "How daring the choice of the next token is: the probabilities softmax(logits / T). "
        "Small T sharpens, large T flattens, T = 0 puts all of it on the largest logit.\n"
        "logits: (V,); batch axes may stand in front. T: one number.\n"
        "Returns: probabilities, the shape of logits.",
        "次のトークンをどれだけ大胆に選ぶか: 確率 softmax(logits / T)。"
        "T が小さいと鋭く、大きいと平らになり、T = 0 では最大の logit が確率 1 になります。\n"
        "logits: (V,)。前にバッチの軸があっても可。T: 1 つの数。\n"
        "返り値: logits と同じ形の確率。",
    ),
    right=right,
    steps={"divided": lambda logits, T: logits / T, "weights": softmax, "cold": greedy},
    probes=probes,
    mistakes=(
        _divided(
            "temperature-multiplied",
            lambda logits, T: logits * T,
            Words(
                "the logits are multiplied by T, not divided",
                "logits を T で割らずに、T を掛けています",
            ),
        ),
        _divided(
            "temp-ignored",
            lambda logits, T: logits,
            Words("T has no effect on the result", "T が結果に効いていません"),
        ),
        _divided(
            "temp-twice",
            lambda logits, T: logits / T / T,
            Words("the logits are divided by T twice", "logits を T で 2 回割っています"),
        ),
        _divided(
            "temp-root",
            lambda logits, T: logits / np.sqrt(T),
            Words("divided by √T, not by T", "T ではなく √T で割っています"),
        ),
        Mistake(
            "temp-on-probs",
            {
                "divided": lambda logits, T: logits,
                "weights": softmax,
            },
            Words(
                "the probabilities are divided by T and made to sum to 1 again: T cancels",
                "確率を T で割って和を 1 に戻しており、T が打ち消されています",
            ),
            SHARPER,
            COLD,
            DIVIDE,
            "p = softmax(logits / T)",
            _largest,
        ),
        Mistake(
            "temp-on-probs",
            {
                "divided": lambda logits, T: (logits, T),
                "weights": lambda both: softmax(both[0]) / both[1],
            },
            Words(
                "the probabilities are divided by T, not the logits: they no longer sum to 1",
                "logits ではなく確率を T で割っており、和が 1 になりません",
            ),
            SHARPER,
            COLD,
            DIVIDE,
            "p = softmax(logits / T)",
            _largest,
        ),
        Mistake(
            "temp-returns-logits",
            {"weights": lambda scores: scores},
            Words(
                "logits / T is returned, without softmax",
                "logits / T を softmax にかけずに返しています",
            ),
            Words("probabilities must sum to 1.", "確率の和は 1 でなければなりません。"),
            Words("what does your result add up to?", "結果の和はいくつですか。"),
            Words("take softmax of logits / T.", "logits / T の softmax を取ってください。"),
            "p = softmax(logits / T)",
        ),
        TWICE,
        Mistake(
            "sample-softmax-twice",
            {"divided": lambda logits, T: softmax(logits) / T},
            Words(
                "probabilities are divided by T and go through softmax again",
                "確率を T で割り、もう一度 softmax にかけています",
            ),
            TWICE.why,
            TWICE.ask,
            DIVIDE,
            "p = softmax(logits / T)",
            _largest,
        ),
        *LAST,
        *(
            _zero(
                cold,
                Words("T = 0 gives NaN: a division by 0", "T = 0 で NaN になります (0 での割り算)"),
            )
            for cold in (
                lambda logits: np.full(logits.shape, np.nan),
                lambda logits: shares(np.exp(logits / 0.0)),
            )
        ),
        _zero(
            softmax,
            Words("T = 0 is silently taken as T = 1", "T = 0 が黙って T = 1 として扱われます"),
        ),
    ),
    ties=(frozenset({"temp-ignored", "temp-on-probs"}),),
    batched=("logits",),
)
