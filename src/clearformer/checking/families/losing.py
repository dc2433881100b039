"""Slips in the loss of a token: the steps `rows(logits)`, `logs(rows)`, `picked(logs, targets)`."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from clearformer.checking.exercise import Case, Evidence, Mistake, Variant
from clearformer.checking.families.softmaxing import SOFTMAXING, softmax
from clearformer.checking.words import Words


def rows(logits: Any) -> Any:
    """One row per token, whatever axes there were."""
    return logits.reshape(-1, logits.shape[-1])


def logs(logits: Any) -> Any:
    """log softmax: x - max - log Σ exp(x - max), without ever taking the logarithm of 0."""
    low = logits - logits.max(-1, keepdims=True)
    return low - np.log(np.exp(low).sum(-1, keepdims=True))


def picked(logs: Any, targets: Any) -> Any:
    """-log p of each row's own target."""
    return -logs[np.arange(len(targets)), targets]


def _logged(weights: Callable[..., Any], logits: Any) -> Any:
    return np.log(weights(logits))


def _floored(least: float, logits: Any) -> Any:
    return np.log(softmax(logits) + least)


def _clipped(least: float, logits: Any) -> Any:
    return np.log(np.clip(softmax(logits), least, 1 - least))


def _sum_of_exp(logits: Any) -> Any:
    return logits - np.log(np.exp(logits).sum(-1, keepdims=True))


def _swapped(logits: Any) -> Any:
    return logits.swapaxes(-1, -2).reshape(-1, logits.shape[-1])


def _recut(logits: Any) -> Any:
    if logits.ndim < 3:
        return logits
    *lead, T, V = logits.shape
    return rows(logits.reshape(*lead, V, T).swapaxes(-1, -2))


def one_number(name: str, says: Callable[[float, float], Words | None]) -> Evidence:
    """Evidence from the single number that the case `name` gave, mine and right."""

    def look(cases: Mapping[str, Case]) -> Words | None:
        case = cases.get(name)
        if case is None:
            return None
        ((_, mine),) = case.mine.items()
        ((_, right),) = case.right.items()
        return says(float(mine), float(right)) if mine.size == 1 == right.size else None

    return look


SURE = "sure and right"
"""A case where each target has almost all of the probability."""

CODE = "z - z.max(-1, keepdims=True) - np.log(np.exp(z - z.max(-1, keepdims=True)).sum(-1, …))"
NATS = Words(
    "the unit of a loss is that of its logarithm; other units cannot be compared with it.",
    "損失の単位は対数の底で決まり、違う単位では比べられません。",
)
OWN = Words(
    "pick one number from each row: that of its own target.",
    "各行から、その行の正解の数だけを 1 つ取り出してください。",
)
PICK = "-logp[np.arange(len(targets)), targets]"
TARGET = Words(
    "only the probability of the token that really came is judged.",
    "実際に来たトークンの確率だけを評価します。",
)
SHAPE = Words("how many numbers do you average, and which?", "いくつの、どの数を平均していますか。")

_SOFTMAX = {"softmax-axis0", "softmax-whole", "softmax-keepdims", "softmax-bracket"}


def log_0(least: float) -> Mistake:
    """The logarithm of softmax, which may be 0, with `least` added to it."""
    return Mistake(
        "ce-log0",
        {"logs": partial(_floored, least)},
        Words(
            "the logarithm of a probability that has become 0: infinite, or capped by a floor",
            "0 になった確率の対数を取っています (無限大になるか、下限で頭打ちになります)",
        ),
        Words(
            "a token that is very unlikely gives no usable loss or gradient.",
            "とても起こりにくいトークンで、損失も勾配も使えなくなります。",
        ),
        Words(
            "what is exp(−1000) in your numbers, and its logarithm?",
            "exp(−1000) はいくつになり、その対数は何ですか。",
        ),
        Words(
            "compute the logarithm of softmax directly: z − max − log Σ exp(z − max).",
            "softmax の対数を直接計算してください: z − max − log Σ exp(z − max)。",
        ),
        CODE,
        beside=True,
    )


LOGGING = (
    Mistake(
        "ce-double-softmax",
        {"logs": lambda logits: logs(softmax(logits))},
        Words(
            "softmax is taken twice: what arrives at the loss are already shares",
            "softmax を 2 回かけています (損失に渡す前にもう確率になっています)",
        ),
        Words(
            "the loss cannot come near 0: it stalls at ln(e + V − 1) − 1.",
            "損失が 0 に近づけず、ln(e + V − 1) − 1 で止まります。",
        ),
        Words(
            "how many times does exp stand between logits and loss?",
            "logits から損失までに exp は何回ありますか。",
        ),
        Words("give the logits themselves to the loss.", "logits をそのまま損失に渡してください。"),
        "logp = log_softmax(logits)",
        one_number(
            SURE,
            lambda mine, right: Words(
                f"sure of the right token, your result is {mine:.3f} instead of {right:.3f}.",
                f"正解をほぼ確信していても結果は {mine:.3f} です (正しくは {right:.3f})。",
            ),
        ),
    ),
    *(
        replace(each, change={"logs": partial(_logged, each.change["weights"])}, evidence=None)
        for each in SOFTMAXING
        if each.key in _SOFTMAX
    ),
    *(
        replace(each, change={"logs": step})
        for each in SOFTMAXING
        if each.key == "softmax-no-max"
        for step in (partial(_logged, each.change["weights"]), _sum_of_exp)
    ),
    *(log_0(least) for least in (0.0, 1e-15, 1e-12, 1e-10, 1e-9, 1e-8)),
)
"""Of any exercise with a step `logs(logits)`."""


def floors(added: Sequence[float], clipped: Sequence[float]) -> tuple[Variant, ...]:
    """Probabilities to which something is added, or which are cut, as ordinary numbers show."""
    return tuple(
        Variant(
            "ce-floor",
            {"logs": partial(way, least)},
            Words(
                f"{least:g} keeps the logarithm from 0: right but for that; a loss has a ceiling.",
                f"log(0) を避けるため {least:g} を使っています。その分ずれ、損失に上限ができます。",
            ),
        )
        for way, all_of_it in ((_floored, added), (_clipped, clipped))
        for least in all_of_it
    )


def _picked(key: str, step: Any, found: Words, ask: Words, fix: Words = OWN) -> Mistake:
    return Mistake(key, {"picked": step}, found, TARGET, ask, fix, PICK)


PICKING = (
    _picked(
        "ce-no-minus",
        lambda logs, targets: -picked(logs, targets),
        Words("the minus sign is missing", "マイナス符号がありません"),
        Words("is the logarithm of a probability positive?", "確率の対数は正ですか。"),
        Words("take minus the logarithm.", "対数にマイナスを付けてください。"),
    ),
    _picked(
        "ce-no-log",
        lambda logs, targets: np.exp(-picked(logs, targets)) * -1,
        Words(
            "the probability itself is taken, without its logarithm",
            "対数を取らず、確率そのものを使っています",
        ),
        Words(
            "how large is the loss of a token with probability 0?",
            "確率 0 のトークンの損失はいくつですか。",
        ),
        Words("take the logarithm of the probability.", "確率の対数を取ってください。"),
    ),
    _picked(
        "ce-target-offset",
        lambda logs, targets: picked(logs, targets - 1),
        Words(
            "one is taken off the targets: ids start at 0, and 0 becomes the last",
            "正解の id から 1 を引いています (id は 0 からで、0 は最後に回ります)",
        ),
        Words("which column belongs to id 0?", "id 0 はどの列ですか。"),
    ),
    _picked(
        "ce-predicted",
        lambda logs, targets: -logs.max(-1),
        Words(
            "the most likely token's probability is taken, not the target's",
            "正解ではなく、最も確率の高いトークンの確率を使っています",
        ),
        Words("where in your code do the targets appear?", "コードのどこで正解を使っていますか。"),
    ),
    _picked(
        "ce-all-columns",
        lambda logs, targets: -logs[:, targets].mean(-1),
        Words(
            "logp[:, targets] takes the columns of all targets in every row",
            "logp[:, targets] は全行で全正解の列を取り出しています",
        ),
        SHAPE,
    ),
    _picked(
        "ce-mean-classes",
        lambda logs, targets: picked(logs, targets) / logs.shape[-1],
        Words(
            "the mean runs over all V columns, too: the result is V times too small",
            "V 個の列でも平均しているため、結果が V 分の 1 です",
        ),
        SHAPE,
    ),
)
"""Of any exercise with a step `picked(logs, targets)`."""

RESHAPING = tuple(
    Mistake(
        "ce-reshape",
        {"rows": step},
        Words(
            "reshape was used to exchange axes: rows mix numbers of several tokens",
            "軸の入れ替えに reshape を使っています。1 行に複数のトークンの数が混ざります",
        ),
        Words(
            "reshape keeps the order of numbers; the loss then stays near ln V.",
            "reshape は数の並びを変えないので、損失が ln V 付近のままになります。",
        ),
        Words(
            "which numbers stand in row 0 after your reshape?",
            "reshape の後、0 行目にはどの数がありますか。",
        ),
        Words(
            "keep V as the last axis and flatten the axes before it.",
            "V を最後の軸のままにし、その前の軸だけを平らにしてください。",
        ),
        "logits.reshape(-1, logits.shape[-1])",
    )
    for step in (_swapped, _recut)
)
"""Of any exercise with a step `rows(logits)`; only batch axes show it."""
