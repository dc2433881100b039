"""The gradient of the mean cross-entropy with respect to the logits."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from clearformer.checking.exercise import Case, Exercise, Mistake
from clearformer.checking.families.softmaxing import SOFTMAXING, softmax
from clearformer.checking.probe import Probe, normal
from clearformer.checking.words import Words


def right(step: Any, logits: Any, targets: Any) -> Any:
    """(softmax(logits) - one-hot target) / number of tokens."""
    return step.divided(step.difference(step.weights(logits), targets))


def one_hot(targets: Any, V: int) -> Any:
    """A row per target: 1 in its place."""
    return np.eye(V)[targets]


def difference(shares: Any, targets: Any) -> Any:
    """Shares minus what should have been."""
    return shares - one_hot(targets, shares.shape[-1])


def divided(gradient: Any) -> Any:
    """By the number of rows, as the loss is their mean."""
    return gradient / gradient[..., 0].size


def probes() -> Sequence[Probe]:
    """Targets that come twice, 0 and V - 1; as many rows as columns once."""
    hard = np.array([[1000.0, -1000.0, 0.0], [-1000.0, -999.0, -1001.0], [0.0, 1.0, 2.0]])
    return (
        _of("5 tokens", normal(1, 5, 4, scale=1.5), [0, 3, 1, 3, 2]),
        _of("7 tokens", normal(2, 7, 3, scale=1.5), [2, 0, 0, 1, 2, 0, 1]),
        _of("as many tokens as ids", normal(3, 4, 4), [3, 0, 1, 0]),
        _of("sure and right", normal(4, 3, 5) + 25 * np.eye(5)[[0, 4, 2]], [0, 4, 2]),
        _of("all alike", np.full((3, 6), 0.5), [0, 5, 2]),
        _of(
            "logits of 1,000",
            hard,
            [0, 2, 1],
            role="stress",
            says=Words("logits of ±1,000", "±1,000 の logits"),
        ),
    )


def _of(name: str, logits: Any, targets: Sequence[int], **more: Any) -> Probe:
    return Probe(name, {"logits": logits, "targets": np.array(targets)}, **more)


def _columns(shares: Any, targets: Any) -> Any:
    changed = shares.copy()
    changed[..., np.unique(targets)] -= 1
    return changed


def _sums(cases: Mapping[str, Case]) -> Words | None:
    mine = cases["5 tokens"].mine["gradient"]
    if mine.shape != (5, 4) or np.allclose(mine.sum(-1), 0, atol=1e-3):
        return None
    rows = ", ".join(f"{value:.2f}" for value in mine.sum(-1))
    return Words(
        f"your rows sum to {rows}; each must sum to 0.",
        f"あなたの行の和は {rows} です。どの行も 0 になるはずです。",
    )


def _ratio(cases: Mapping[str, Case]) -> Words | None:
    case = cases["5 tokens"]
    ratio = case.mine["gradient"].flat[0] / case.right["gradient"].flat[0]
    return Words(
        f"with 5 tokens and 4 ids your gradient is {ratio:.4g} times the right one.",
        f"5 トークン・語彙 4 で、勾配は正しい値の {ratio:.4g} 倍です。",
    )


OUTSIDE = Words(
    "then the step does not fit the loss that is printed.",
    "表示される損失と学習の歩幅が合わなくなります。",
)
ROW_SUM = Words(
    "adding a number to a whole row of logits changes nothing, so each row sums to 0.",
    "行全体に同じ数を足しても損失は変わらないので、各行の和は 0 です。",
)
LINE = "grad = (p - np.eye(V)[targets]) / len(targets)"
HOW_MUCH = Words(
    "nudge one logit by 0.001: how much does the mean loss change?",
    "logit を 1 つ 0.001 だけ動かすと、平均損失はどれだけ変わりますか。",
)
ONE_EACH = Words(
    "subtract 1 in each row, at that row's own target.",
    "各行で、その行の正解の場所だけから 1 を引いてください。",
)


def _scale(step: Any, found: Words) -> Mistake:
    fix = Words("divide by the number of tokens, once.", "トークン数で 1 回だけ割ってください。")
    return Mistake("ce-grad-scale", {"divided": step}, found, OUTSIDE, HOW_MUCH, fix, LINE, _ratio)


def _difference(key: str, step: Any, found: Words, fix: Words = ONE_EACH) -> Mistake:
    return Mistake(key, {"difference": step}, found, ROW_SUM, HOW_MUCH, fix, LINE, _sums)


EXERCISE = Exercise(
    name="cross_entropy_gradient",
    title=Words("The gradient of cross-entropy", "交差エントロピーの勾配"),
    task=Words(
        "How the mean loss changes with each logit: the gradient of the mean over all tokens of "
        "−log softmax(logits)[target] (natural logarithm) with respect to the logits.\n"
        "logits: (N, V). targets: (N,), ids from 0 to V − 1. Both may have batch axes in front.\n"
        "Returns: the shape of logits.",
        "平均損失が各 logit でどう変わるか: 全トークンでの −log softmax(logits)[正解] "
        "(自然対数) の平均を、logits で微分した勾配。\n"
        "logits: (N, V)。targets: (N,)、0 から V − 1 の id。両方の前にバッチの軸があっても可。\n"
        "返り値: logits と同じ形。",
    ),
    right=right,
    steps={"weights": softmax, "difference": difference, "divided": divided},
    probes=probes,
    mistakes=(
        *SOFTMAXING,
        Mistake(
            "ce-double-softmax",
            {"weights": lambda logits: softmax(softmax(logits))},
            Words("softmax is taken twice", "softmax を 2 回かけています"),
            Words(
                "the gradient then never vanishes, however sure the model is.",
                "モデルがどれだけ確信しても勾配が 0 に近づきません。",
            ),
            Words(
                "how many times does exp stand in your code?", "コードの中に exp は何回ありますか。"
            ),
            Words(
                "take softmax of the logits once.", "softmax は logits に 1 回だけかけてください。"
            ),
            "p = softmax(logits)",
        ),
        _scale(
            lambda gradient: gradient,
            Words(
                "the gradient is of the sum of the losses, but the loss is their mean",
                "損失は平均ですが、勾配は合計のものです",
            ),
        ),
        _scale(
            lambda gradient: gradient / gradient[..., 0].size ** 2,
            Words("divided by the number of tokens twice", "トークン数で 2 回割っています"),
        ),
        _scale(
            lambda gradient: gradient / gradient.size,
            Words(
                "divided by all numbers of the table, N · V, not by the N tokens",
                "N 個のトークンではなく、表の全要素数 N · V で割っています",
            ),
        ),
        _scale(
            lambda gradient: gradient / gradient.shape[-1],
            Words(
                "divided by the number of ids, V, not by the N tokens",
                "トークン数 N ではなく、語彙の数 V で割っています",
            ),
        ),
        _difference(
            "ce-grad-sign",
            lambda shares, targets: one_hot(targets, shares.shape[-1]) - shares,
            Words("the sign is turned round: target − p", "符号が逆です: 正解 − p"),
            Words(
                "the gradient is p minus the one-hot target.",
                "勾配は p から one-hot の正解を引いたものです。",
            ),
        ),
        _difference(
            "ce-grad-no-target",
            lambda shares, targets: shares,
            Words(
                "the shares alone: the targets are never subtracted",
                "確率のままで、正解が引かれていません",
            ),
        ),
        _difference(
            "ce-grad-columns",
            _columns,
            Words(
                "p[:, targets] −= 1 takes 1 from these columns in every row",
                "p[:, targets] −= 1 は、全行のその列から 1 を引いています",
            ),
        ),
        _difference(
            "ce-target-offset",
            lambda shares, targets: difference(shares, targets - 1),
            Words(
                "one is taken off the targets: ids start at 0, and 0 becomes the last",
                "正解の id から 1 を引いています (id は 0 からで、0 は最後に回ります)",
            ),
        ),
        _difference(
            "ce-grad-of-p",
            lambda shares, targets: -one_hot(targets, shares.shape[-1]) / shares,
            Words(
                "−1/p at the target: the derivative by the probability, not by the logit",
                "正解の場所の −1/p は確率についての微分で、logit についてではありません",
            ),
            Words(
                "go on through softmax: what is left is p − one-hot.",
                "softmax まで微分を続けると p − one-hot が残ります。",
            ),
        ),
    ),
    returns=("gradient",),
    batched=("logits", "targets"),
)
