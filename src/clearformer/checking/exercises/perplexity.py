"""Perplexity: among how many tokens the model seems to choose."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from clearformer.checking.exercise import Exercise, Mistake
from clearformer.checking.families.losing import (
    LOGGING,
    PICKING,
    RESHAPING,
    floors,
    logs,
    picked,
    rows,
)
from clearformer.checking.families.padding_out import (
    ALL_TOGETHER,
    BY_ROWS,
    MASK,
    REAL,
    TOKEN_BY_TOKEN,
    WEIGHS,
    averaged,
    by_row,
    denominator,
    real,
)
from clearformer.checking.families.sentences import sentences, uniform
from clearformer.checking.probe import Probe
from clearformer.checking.words import Words


def right(step: Any, logits: Any, targets: Any, pad_id: Any) -> Any:
    """exp of the mean of -log softmax(logits)[target] over the targets that are not padding."""
    losses = step.picked(step.logs(step.rows(logits)), targets.reshape(-1))
    mean = step.averaged(losses.reshape(targets.shape), step.real(targets, pad_id))
    return step.power(mean)


def probes() -> Sequence[Probe]:
    """Rows of different length; the padding's id in the middle, at the end, and 0."""
    return sentences()


CHOICE = Words(
    "a model that finds V tokens equally likely has perplexity V.",
    "V 個のトークンを同じ確率と見るモデルのパープレキシティは V です。",
)
UNIFORM_ASK = Words(
    "what does your code give when all logits are the same?",
    "logits がすべて同じとき、結果はいくつですか。",
)
EXP = "np.exp(mean_loss)"


def _power(key: str, power: Any, found: Words, fix: Words) -> Mistake:
    return Mistake(key, {"power": power}, found, CHOICE, UNIFORM_ASK, fix, EXP, uniform)


SAME_BASE = Words(
    "raise the base of the loss's own logarithm: e for nats, 2 for bits.",
    "損失の対数と同じ底でべき乗してください: nat なら e、ビットなら 2。",
)

EXERCISE = Exercise(
    name="perplexity",
    title=Words("Perplexity", "パープレキシティ"),
    task=Words(
        "Among how many tokens a model seems to choose: exp of the mean of −log p(target) (nats) "
        "over all targets that are not pad_id; p = softmax(logits); all tokens weigh the same.\n"
        "logits: (B, T, V), or (N, V) for one row. targets: (B, T) or (N,). pad_id: one id; "
        "0 is a token like any other unless it is pad_id. Returns: one number.",
        "モデルが何個のトークンの中から選んでいるように見えるか: "
        "pad_id でない全ての正解についての "
        "−log p(正解) (nat) の平均の exp。p = softmax(logits)。どのトークンも同じ重みです。\n"
        "logits: (B, T, V)、1 行なら (N, V)。targets: (B, T) か (N,)。pad_id: 1 つの id。"
        "pad_id でない限り 0 も普通のトークンです。返り値: 1 つの数。",
    ),
    right=right,
    steps={
        "rows": rows,
        "logs": logs,
        "picked": picked,
        "real": real,
        "averaged": averaged,
        "power": np.exp,
    },
    probes=probes,
    mistakes=(
        *LOGGING,
        *PICKING,
        *RESHAPING,
        *REAL,
        denominator("ppl-padding-denominator", uniform),
        Mistake(
            "ppl-mean-of-means",
            {"averaged": lambda losses, real: by_row(losses, real).mean()},
            BY_ROWS,
            TOKEN_BY_TOKEN,
            WEIGHS,
            ALL_TOGETHER,
            f"np.exp({MASK})",
        ),
        Mistake(
            "ppl-mean-of-means",
            {
                "averaged": lambda losses, real: np.exp(by_row(losses, real)).mean(),
                "power": lambda mean: mean,
            },
            Words(
                "each sentence has its own perplexity, and these are averaged",
                "文ごとのパープレキシティを平均しています",
            ),
            TOKEN_BY_TOKEN,
            WEIGHS,
            ALL_TOGETHER,
            f"np.exp({MASK})",
        ),
        Mistake(
            "ppl-mean-of-exps",
            {
                "averaged": lambda losses, real: np.exp(losses[real]).mean(),
                "power": lambda mean: mean,
            },
            Words(
                "exp is taken of each token's loss, before the mean",
                "平均する前に、トークンごとの損失の exp を取っています",
            ),
            Words(
                "one unlikely token then decides nearly all of it.",
                "起こりにくいトークン 1 つで、結果がほぼ決まってしまいます。",
            ),
            Words("which comes first, the mean or exp?", "平均と exp はどちらが先ですか。"),
            Words(
                "take the mean of the losses, then exp.",
                "損失を平均してから exp を取ってください。",
            ),
            f"np.exp({MASK})",
        ),
        Mistake(
            "ppl-sum",
            {"averaged": lambda losses, real: losses[real].sum()},
            Words(
                "exp of the sum of the losses, not of their mean",
                "損失の平均ではなく合計の exp を取っています",
            ),
            CHOICE,
            UNIFORM_ASK,
            ALL_TOGETHER,
            f"np.exp({MASK})",
            uniform,
        ),
        _power(
            "ppl-base",
            np.exp2,
            Words("2 to the power of a loss in nats", "nat の損失で 2 をべき乗しています"),
            SAME_BASE,
        ),
        _power(
            "ppl-base",
            lambda mean: np.exp(mean / np.log(2)),
            Words("e to the power of a loss in bits", "ビットの損失で e をべき乗しています"),
            SAME_BASE,
        ),
        _power(
            "ppl-no-exp",
            lambda mean: mean,
            Words(
                "the loss itself is returned, without exp",
                "exp を取らず、損失そのものを返しています",
            ),
            Words("take exp of the mean loss.", "平均した損失の exp を取ってください。"),
        ),
    ),
    variants=floors((1e-7, 1e-6, 1e-5), (1e-5,)),
    returns=("perplexity",),
    batched=("logits", "targets"),
)
