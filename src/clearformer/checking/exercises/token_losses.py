"""The loss of each token by itself, whatever axes there are in front."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from clearformer.checking.exercise import Exercise, Mistake
from clearformer.checking.families.losing import (
    LOGGING,
    NATS,
    PICKING,
    RESHAPING,
    floors,
    logs,
    picked,
    rows,
)
from clearformer.checking.probe import Probe, normal, whole
from clearformer.checking.words import Words


def right(step: Any, logits: Any, targets: Any) -> Any:
    """-log softmax(logits)[target], for each target."""
    losses = step.picked(step.logs(step.rows(step.fitting(logits))), targets.reshape(-1))
    return step.unit(losses).reshape(targets.shape)


def probes() -> Sequence[Probe]:
    """No axis in front, one, two; as many rows as columns; ids 0 and V - 1."""
    return (
        Probe(
            "4 tokens", {"logits": normal(2, 4, 6, scale=1.5), "targets": np.array([0, 5, 2, 5])}
        ),
        Probe("one token", {"logits": normal(1, 5, scale=1.5), "targets": np.array(4)}),
        Probe("as many tokens as ids", {"logits": normal(3, 5, 5), "targets": whole(4, 5, 5)}),
        Probe(
            "sure and right", {"logits": 25 * np.eye(4)[[0, 3, 1]], "targets": np.array([0, 3, 1])}
        ),
        Probe(
            "a batch",
            {"logits": normal(5, 3, 4, 5, scale=1.5), "targets": whole(6, 5, 3, 4)},
            batched=True,
        ),
        Probe(
            "logits of 1,000",
            {
                "logits": np.array([[1000.0, -1000.0, 0.0], [-1000.0, 1000.0, 999.0]]),
                "targets": np.array([0, 1]),
            },
            role="stress",
            says=Words("logits of ±1,000", "±1,000 の logits"),
        ),
        Probe(
            "an unlikely target",
            {
                "logits": np.array([[0.0, -900.0, 1.0], [0.0, 1.0, 2.0]]),
                "targets": np.array([1, 0]),
            },
            role="stress",
            says=Words("a target of probability exp(−900)", "確率 exp(−900) の正解"),
        ),
    )


def _refusing(*, fewest: int, most: int) -> Any:
    def fitting(logits: Any) -> Any:
        if not fewest <= logits.ndim <= most:
            raise IndexError("an axis that is not there")
        return logits

    return fitting


AXES = Words(
    "a single token and a batch of sentences are the same work along the last axis.",
    "1 トークンでも文のバッチでも、最後の軸に沿って同じことをするだけです。",
)
ANY_AXES = Words(
    "flatten all axes before the last one, or use take_along_axis.",
    "最後の軸より前をすべて平らにするか、take_along_axis を使ってください。",
)
ALONG = "np.take_along_axis(logp, targets[..., None], -1)[..., 0]"
LAST_AXIS = Words(
    "which axis does your code name by number?", "コードの中で、番号で指定している軸はどれですか。"
)

EXERCISE = Exercise(
    name="token_losses",
    title=Words("The loss of each token", "トークンごとの損失"),
    task=Words(
        "How surprised a model is by each token that came: −log p(target), p = softmax(logits) "
        "over the last axis, natural logarithm. No mean is taken.\n"
        "logits: (…, V): one token (V,), a sentence (T, V), a batch (B, T, V).\n"
        "targets: (…), ids from 0 to V − 1. Returns: the shape of targets.",
        "来たトークンごとに、モデルがどれだけ驚いたか: −log p(正解)。"
        "p は最後の軸の softmax(logits)。"
        "自然対数を使い、平均は取りません。\n"
        "logits: (…, V)。1 トークン (V,)、文 (T, V)、バッチ (B, T, V)。\n"
        "targets: (…)、0 から V − 1 の id。返り値: targets と同じ形。",
    ),
    right=right,
    steps={
        "fitting": lambda logits: logits,
        "rows": rows,
        "logs": logs,
        "picked": picked,
        "unit": lambda losses: losses,
    },
    probes=probes,
    mistakes=(
        *LOGGING,
        *PICKING,
        *RESHAPING,
        Mistake(
            "ce-1d",
            {"fitting": _refusing(fewest=2, most=9)},
            Words(
                "a batch axis is assumed: a single token, of shape (V,), fails",
                "バッチの軸を前提としており、形 (V,) の 1 トークンで止まります",
            ),
            AXES,
            LAST_AXIS,
            ANY_AXES,
            ALONG,
        ),
        Mistake(
            "ce-1d",
            {"fitting": _refusing(fewest=2, most=2)},
            Words(
                "exactly two axes are assumed: a single token and a batch of sentences fail",
                "軸が 2 つのときだけ動き、1 トークンでも文のバッチでも止まります",
            ),
            AXES,
            LAST_AXIS,
            ANY_AXES,
            ALONG,
        ),
        Mistake(
            "ce-no-batch",
            {"fitting": _refusing(fewest=1, most=2)},
            Words(
                "at most two axes are assumed: a batch of sentences, (B, T, V), fails",
                "軸が 2 つまでを前提としており、文のバッチ (B, T, V) で止まります",
            ),
            AXES,
            LAST_AXIS,
            ANY_AXES,
            ALONG,
        ),
        Mistake(
            "ce-log2",
            {"unit": lambda losses: losses / np.log(2)},
            Words(
                "log base 2: the losses are in bits, not nats",
                "底が 2 の対数です (nat ではなくビット)",
            ),
            NATS,
            Words("which base has your logarithm?", "対数の底は何ですか。"),
            Words("use the natural logarithm.", "自然対数を使ってください。"),
            "np.log(p)",
        ),
    ),
    variants=floors((1e-7, 1e-6, 1e-5), (1e-7, 1e-6, 1e-5)),
    returns=("losses",),
)
