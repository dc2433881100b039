"""Cross-entropy of sentences of different length, filled up with padding."""

from collections.abc import Sequence
from typing import Any

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
    """Mean of -log softmax(logits)[target] over the targets that are not padding."""
    losses = step.picked(step.logs(step.rows(logits)), targets.reshape(-1))
    return step.averaged(losses.reshape(targets.shape), step.real(targets, pad_id))


def probes() -> Sequence[Probe]:
    """Rows of different length; the padding's id in the middle, at the end, and 0."""
    return sentences()


EXERCISE = Exercise(
    name="padded_cross_entropy",
    title=Words("Cross-entropy with padding", "パディングのある交差エントロピー"),
    task=Words(
        "Sentences of different length are filled up with padding, which must not count:\n"
        "the mean of −log softmax(logits)[target] (in nats) over all targets that are not pad_id, "
        "every token weighing the same, whichever row it is in.\n"
        "logits: (B, T, V), or (N, V) for one row. targets: (B, T) or (N,). pad_id: one id.\n"
        "Returns: one number.",
        "長さの違う文をパディングで埋めます。パディングは数えてはいけません。"
        "pad_id でない全ての正解についての −log softmax(logits)[正解] (nat) の平均で、"
        "どの行のトークンも同じ重みです。\n"
        "logits: (B, T, V)、1 行なら (N, V)。targets: (B, T) か (N,)。pad_id: 1 つの id。\n"
        "返り値: 1 つの数。",
    ),
    right=right,
    steps={"rows": rows, "logs": logs, "picked": picked, "real": real, "averaged": averaged},
    probes=probes,
    mistakes=(
        *LOGGING,
        *PICKING,
        *RESHAPING,
        *REAL,
        denominator("ce-padding-denominator", uniform),
        Mistake(
            "ce-mean-of-means",
            {"averaged": lambda losses, real: by_row(losses, real).mean()},
            BY_ROWS,
            TOKEN_BY_TOKEN,
            WEIGHS,
            ALL_TOGETHER,
            MASK,
        ),
        Mistake(
            "ce-sum",
            {"averaged": lambda losses, real: losses[real].sum()},
            Words("summed over the tokens, not averaged", "平均ではなく、トークンで合計しています"),
            Words("a sum grows with the batch.", "合計はバッチとともに大きくなります。"),
            Words(
                "should twice as many tokens give twice the loss?",
                "トークンが 2 倍なら損失も 2 倍になるべきですか。",
            ),
            ALL_TOGETHER,
            MASK,
            uniform,
        ),
    ),
    variants=floors((1e-7, 1e-6, 1e-5), (1e-7, 1e-6, 1e-5)),
    returns=("loss",),
    batched=("logits", "targets"),
)
