"""Cross-entropy: how surprised the model was, on average."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from clearformer.checking.exercise import Case, Exercise, Mistake
from clearformer.checking.families.losing import (
    LOGGING,
    NATS,
    PICKING,
    RESHAPING,
    SURE,
    floors,
    logs,
    picked,
    rows,
)
from clearformer.checking.probe import Probe, normal
from clearformer.checking.words import Words


def right(step: Any, logits: Any, targets: Any) -> Any:
    """Mean of -log softmax(logits)[target]."""
    losses = step.picked(step.logs(step.rows(logits)), targets.reshape(-1))
    return step.averaged(step.unit(losses))


def probes() -> Sequence[Probe]:
    """Targets 0 and V - 1 in each; as many rows as columns once; once nearly sure and right."""
    sure = np.array([0, 4, 2, 4])
    hard = np.array([[1000.0, -1000.0, 0.0], [-1000.0, 1000.0, 999.0], [0.0, 1.0, 2.0]])
    return (
        Probe(
            "5 tokens", {"logits": normal(1, 5, 4, scale=1.5), "targets": np.array([0, 3, 1, 3, 2])}
        ),
        Probe(
            "7 tokens",
            {"logits": normal(2, 7, 3, scale=1.5), "targets": np.array([2, 0, 0, 1, 2, 0, 1])},
        ),
        Probe(
            "as many tokens as ids", {"logits": normal(3, 4, 4), "targets": np.array([3, 0, 1, 0])}
        ),
        Probe(SURE, {"logits": normal(4, 4, 5) + 25 * np.eye(5)[sure], "targets": sure}),
        Probe("all alike", {"logits": np.full((3, 6), 0.5), "targets": np.array([0, 5, 2])}),
        Probe(
            "a batch",
            {
                "logits": normal(5, 3, 4, 5, scale=1.5),
                "targets": np.array([[0, 4, 1, 3], [2, 2, 4, 0], [1, 0, 3, 4]]),
            },
            batched=True,
        ),
        Probe(
            "logits of 1,000",
            {"logits": hard, "targets": np.array([0, 2, 1])},
            role="stress",
            says=Words("logits of ±1,000", "±1,000 の logits"),
        ),
        Probe(
            "one token",
            {"logits": normal(6, 1, 4), "targets": np.array([3])},
            role="stress",
            says=Words("a batch of one token", "1 トークンだけのバッチ"),
        ),
        Probe(
            "an unlikely target",
            {"logits": hard, "targets": np.array([1, 0, 2])},
            role="stress",
            says=Words(
                "logits of ±1,000 and an unlikely target", "±1,000 の logits で起こりにくい正解"
            ),
        ),
    )


def _squeezed(logits: Any) -> Any:
    return rows(logits) if rows(logits).shape[0] > 1 else logits.squeeze()


def _ratio(cases: Mapping[str, Case]) -> Words | None:
    case = cases["5 tokens"]
    ratio = float(case.mine["loss"] / case.right["loss"])
    return Words(
        f"on 5 tokens your result is {ratio:.4g} times the right one.",
        f"5 トークンの入力で、結果は正しい値の {ratio:.4g} 倍です。",
    )


EXERCISE = Exercise(
    name="cross_entropy",
    title=Words("Cross-entropy", "交差エントロピー"),
    task=Words(
        "How surprised a model is by what really came: the mean over all tokens of "
        "−log p(target), with p = softmax(logits) and the natural logarithm (nats).\n"
        "logits: (N, V). targets: (N,), ids from 0 to V − 1. Both may have batch axes in front.\n"
        "Returns: one number. Logits of ±1,000 must give a finite one.",
        "実際に来たトークンにモデルがどれだけ驚いたか: 全トークンでの −log p(正解) の平均。\n"
        "p = softmax(logits)、自然対数 (単位 nat)。\n"
        "logits: (N, V)。targets: (N,)、0 から V − 1 の id。両方の前にバッチの軸があっても可。\n"
        "返り値: 1 つの数。±1,000 の logits でも有限であること。",
    ),
    right=right,
    steps={
        "rows": rows,
        "logs": logs,
        "picked": picked,
        "unit": lambda losses: losses,
        "averaged": lambda losses: losses.mean(),
    },
    probes=probes,
    mistakes=(
        *LOGGING,
        *PICKING,
        *RESHAPING,
        Mistake(
            "ce-1d",
            {"rows": _squeezed},
            Words(
                "a batch of one token fails: its axis of length 1 is lost",
                "1 トークンだけのバッチで止まります (長さ 1 の軸が失われています)",
            ),
            Words(
                "the last batch of a text is often smaller than the others.",
                "文章の最後のバッチは、ほかより小さいことがよくあります。",
            ),
            Words(
                "what shape have your logits when N = 1?", "N = 1 のとき logits の形は何ですか。"
            ),
            Words(
                "leave out squeeze, or name its axis.",
                "squeeze を使わないか、軸を指定してください。",
            ),
            "logits.reshape(-1, logits.shape[-1])",
            beside=True,
        ),
        Mistake(
            "ce-log2",
            {"unit": lambda losses: losses / np.log(2)},
            Words(
                "log base 2: the loss is in bits, not nats",
                "底が 2 の対数です (nat ではなくビット)",
            ),
            NATS,
            Words("which base has your logarithm?", "対数の底は何ですか。"),
            Words("use the natural logarithm.", "自然対数を使ってください。"),
            "np.log(p)",
            _ratio,
        ),
        Mistake(
            "ce-sum",
            {"averaged": lambda losses: losses.sum()},
            Words("summed over the tokens, not averaged", "平均ではなく、トークンで合計しています"),
            Words(
                "a sum grows with the batch, and the size of a step with it.",
                "合計はバッチとともに大きくなり、学習の歩幅も変わります。",
            ),
            Words(
                "should twice as many tokens give twice the loss?",
                "トークンが 2 倍なら損失も 2 倍になるべきですか。",
            ),
            Words("divide by the number of tokens.", "トークン数で割ってください。"),
            "losses.mean()",
            _ratio,
        ),
    ),
    variants=floors((1e-7, 1e-6, 1e-5), (1e-7, 1e-6, 1e-5)),
    returns=("loss",),
    batched=("logits", "targets"),
)
