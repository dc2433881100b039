"""Slips in hiding what must not be seen: the steps `hidden(scores)`, `hidden_after(weights)`.

Both may take more after the scores, such as lengths; what covers them takes the same.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from clearformer.checking.exercise import Mistake, Step
from clearformer.checking.probe import Probe
from clearformer.checking.words import Words


def future(scores: Any, first: int = 1) -> Any:
    """True where a key comes `first` or more places after its query."""
    return np.triu(np.ones(scores.shape[-2:], bool), first)


def hidden(scores: Any) -> Any:
    """-inf where the future is, so that its weight becomes exactly 0."""
    return np.where(future(scores), -np.inf, scores)


def kept(weights: Any, *_: Any) -> Any:
    """Nothing is hidden after the softmax."""
    return weights


LEAK = Words(
    "a token that sees what comes next learns to copy it, and cannot write without it.",
    "次のトークンが見えると写すことを覚え、見えないと書けなくなります。",
)
HIDE = Words(
    "put −inf on every key after the query, before the softmax.",
    "softmax の前に、クエリより後のキーすべてに −inf を入れてください。",
)
LINE = "scores = np.where(np.triu(np.ones((T, T), bool), 1), -np.inf, scores)"
WHICH = Words(
    "which tokens may the first token look at? And the last?",
    "最初のトークンはどこを見てよいですか。最後のトークンは。",
)
NUMBER = Words(
    "what does softmax make of the number you put in the hidden places?",
    "隠した場所に入れた数は softmax で何になりますか。",
)


def covering(covered: Callable[..., Any]) -> tuple[Step, ...]:
    """The ways to hide what `covered` says; they differ where it leaves a row nothing to see."""
    return (
        lambda scores, *told: np.where(covered(scores, *told), -np.inf, scores),
        lambda scores, *told: np.where(covered(scores, *told), -1e9, scores),
        lambda scores, *told: scores + np.where(covered(scores, *told), -1e9, 0.0),
    )


def filling(
    covered: Callable[..., Any], why: Words = LEAK, hide: Words = HIDE, line: str = LINE
) -> tuple[Mistake, ...]:
    """Slips in what is put where `covered(scores, …)` is True, and when."""

    def mask(
        key: str, step: Any, found: Words, why: Words = why, ask: Words = NUMBER, fix: Words = hide
    ) -> Mistake:
        return Mistake(key, {"hidden": step}, found, why, ask, fix, line)

    def times_inf(scores: Any, *told: Any) -> Any:
        return scores + np.where(covered(scores, *told), 1.0, 0.0) * -np.inf

    return (
        Mistake(
            "mask-after-softmax",
            {
                "hidden": lambda scores, *_: scores,
                "hidden_after": lambda weights, *told: np.where(
                    covered(weights, *told), 0.0, weights
                ),
            },
            Words(
                "the mask is applied after the softmax, and rows are not made to sum to 1 again",
                "マスクを softmax の後にかけ、行の和を 1 に戻していません",
            ),
            Words(
                "hidden tokens still took their share of the sum: rows add up to less than 1.",
                "隠したトークンが分母に残り、行の和が 1 より小さくなります。",
            ),
            Words(
                "what did the hidden places contribute to the denominator?",
                "隠した場所は分母に何を足しましたか。",
            ),
            hide,
            line,
        ),
        mask(
            "mask-zero-fill",
            lambda scores, *told: np.where(covered(scores, *told), 0.0, scores),
            Words(
                "hidden scores are set to 0, and exp(0) is 1",
                "隠すスコアを 0 にしています (exp(0) は 1 です)",
            ),
        ),
        mask(
            "mask-fill-tiny",
            lambda scores, *told: np.where(covered(scores, *told), 1e-10, scores),
            Words(
                "hidden scores are set to 1e-10, which is nearly 0, not −1e10",
                "隠すスコアを 1e-10 にしています (−1e10 ではなく、ほぼ 0 です)",
            ),
        ),
        mask(
            "mask-add-01",
            lambda scores, *told: scores - np.where(covered(scores, *told), 1.0, 0.0),
            Words(
                "a mask of 0 and 1 was added to the scores", "0 と 1 のマスクをスコアに足しています"
            ),
        ),
        mask(
            "mask-add-01",
            lambda scores, *told: scores + np.where(covered(scores, *told), 0.0, 1.0),
            Words(
                "a mask of 0 and 1 was added to the scores", "0 と 1 のマスクをスコアに足しています"
            ),
        ),
        mask(
            "mask-plus-inf",
            lambda scores, *told: np.where(covered(scores, *told), np.inf, scores),
            Words(
                "hidden scores are +inf; it should be −inf",
                "隠すスコアが +inf です (−inf にします)",
            ),
            why=Words(
                "softmax of +inf is inf/inf: NaN.", "+inf の softmax は inf/inf で NaN になります。"
            ),
        ),
        mask(
            "mask-0-times-inf",
            times_inf,
            Words(
                "0 · inf is NaN: the mask was multiplied by −inf",
                "マスクに −inf を掛けています (0 · inf は NaN です)",
            ),
            why=Words(
                "the places that should be kept become NaN.", "残すべき場所が NaN になります。"
            ),
            ask=Words("what is 0 times infinity?", "0 掛ける無限大はいくつですか。"),
            fix=Words(
                "choose with np.where instead of multiplying.",
                "掛け算ではなく np.where で選んでください。",
            ),
        ),
    )


def _mask(key: str, step: Any, found: Words, why: Words = LEAK, ask: Words = WHICH) -> Mistake:
    return Mistake(key, {"hidden": step}, found, why, ask, HIDE, LINE)


MASKING = (
    _mask(
        "mask-ignored",
        lambda scores: scores,
        Words(
            "the mask never reaches the scores: the future is seen",
            "マスクが効いておらず、未来が見えています",
        ),
    ),
    _mask(
        "mask-transposed",
        lambda scores: np.where(np.tril(np.ones(scores.shape[-2:], bool), -1), -np.inf, scores),
        Words(
            "the past is hidden instead of the future (tril and triu exchanged)",
            "未来ではなく過去を隠しています (tril と triu が逆です)",
        ),
    ),
    *(
        _mask(
            "mask-inverted",
            step,
            Words(
                "the mask's meaning is turned round: what may be seen is hidden",
                "マスクの意味が逆で、見てよい場所を隠しています",
            ),
            why=Words(
                "only the future is seen; the last row has nothing at all.",
                "未来だけが見え、最後の行は何も見えません。",
            ),
            ask=Words(
                "does True in your mask mean keep or hide?",
                "マスクの True は残す印ですか、隠す印ですか。",
            ),
        )
        for step in covering(lambda scores: ~future(scores))
    ),
    *(
        _mask(
            "mask-diagonal",
            step,
            Words(
                "a token's own place is hidden, too (k=0 instead of k=1)",
                "自分自身の場所まで隠しています (k=1 ではなく k=0)",
            ),
            why=Words(
                "the first token then has nothing to look at: NaN, or all places alike.",
                "最初のトークンには見るものがなくなり、NaN かすべて同じ重みになります。",
            ),
        )
        for step in covering(lambda scores: future(scores, 0))
    ),
    _mask(
        "mask-peek",
        lambda scores: np.where(future(scores, 2), -np.inf, scores),
        Words(
            "the mask starts one place late: the next token is seen",
            "マスクが 1 つ遅れて始まり、次のトークンが見えています",
        ),
    ),
    *filling(future),
)
"""Of any exercise with the steps `hidden(scores)` and `hidden_after(weights)`."""

HALF = Mistake(
    "mask-fp16",
    {"hidden": lambda scores: scores + future(scores).astype(scores.dtype) * -1e9},
    Words(
        "−1e9 does not fit half precision: it becomes −inf, and 0 · inf is NaN",
        "−1e9 は半精度に収まらず −inf になり、0 · inf が NaN になります",
    ),
    Words(
        "large models are trained in half precision, where numbers end at 65,504.",
        "大きいモデルは半精度で学習され、そこでは数は 65,504 までです。",
    ),
    Words("what is the largest number in float16?", "float16 の最大の数はいくつですか。"),
    HIDE,
    LINE,
    beside=True,
)
"""Of one with the probe that `half_precision` makes."""


def half_precision(arguments: Mapping[str, Any]) -> Probe:
    """The same in float16, all numbers positive, so that no result is near 0."""
    halved = {
        name: np.abs(value).astype(np.float16) if isinstance(value, np.ndarray) else value
        for name, value in arguments.items()
    }
    says = Words("numbers in half precision", "半精度の数")
    return Probe("half precision", halved, role="stress", form="half precision", says=says)


def asked(masked: Any) -> Any:
    """Whether the future is to be hidden at all, as the caller says."""
    return masked


def _flag(key: str, step: Step, found: Words) -> Mistake:
    return Mistake(
        key,
        {"asked": step},
        found,
        Words(
            "an encoder needs to see all of a sentence; a decoder must not.",
            "エンコーダは文全体を見る必要があり、デコーダは未来を見てはいけません。",
        ),
        Words(
            "what does your function do with masked=False, and with masked=True?",
            "masked=False のとき、masked=True のとき、それぞれ何をしますか。",
        ),
        Words(
            "hide the future if masked is true, and only then.",
            "masked が真のときだけ未来を隠してください。",
        ),
        "if masked: scores = np.where(np.triu(np.ones((T, T), bool), 1), -np.inf, scores)",
    )


FLAG = (
    _flag(
        "mask-always",
        lambda masked: True,
        Words(
            "the future is hidden always: masked=False has no effect",
            "いつも未来を隠しており、masked=False が効いていません",
        ),
    ),
    _flag(
        "mask-flag-inverted",
        lambda masked: not masked,
        Words(
            "the future is hidden with masked=False and seen with masked=True",
            "masked=False のときに隠し、masked=True のときに見せています",
        ),
    ),
)
"""Of any exercise with the step `asked(masked)`."""

MASK_TIES = (frozenset({"mask-zero-fill", "mask-fill-tiny"}),)
"""Alike unless all scores that may be seen are near -30; no ordinary input shows it."""
