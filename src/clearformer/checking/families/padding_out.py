"""Slips in leaving padding out: the steps `real(targets, pad_id)` and `averaged(losses, real)`."""

from typing import Any

import numpy as np

from clearformer.checking.exercise import Evidence, Mistake
from clearformer.checking.words import Words


def real(targets: Any, pad_id: Any) -> Any:
    """True where a target is a token, not padding."""
    return targets != pad_id


def averaged(losses: Any, real: Any) -> Any:
    """The mean over what is real, all rows together."""
    return losses[real].mean()


def by_row(losses: Any, real: Any) -> Any:
    """The mean of each row over what is real there."""
    return np.where(real, losses, 0).sum(-1) / real.sum(-1)


ONLY_REAL = Words(
    "the result must not change when more padding is added.",
    "パディングを足しても結果が変わってはいけません。",
)
MASK = "losses[targets != pad_id].mean()"
ALIKE = Words(
    "with the same sentences padded further, what does your code give?",
    "同じ文をさらにパディングすると、結果はどうなりますか。",
)
BOTH = Words(
    "leave padding out of the sum and out of the count.",
    "合計からも個数からもパディングを除いてください。",
)

REAL = (
    Mistake(
        "ce-padding",
        {"real": lambda targets, pad_id: np.ones(targets.shape, bool)},
        Words(
            "padding is counted like tokens; pad_id is never used",
            "パディングもトークンとして数えています (pad_id が使われていません)",
        ),
        ONLY_REAL,
        ALIKE,
        BOTH,
        MASK,
    ),
    Mistake(
        "pad-is-0",
        {"real": lambda targets, pad_id: targets != 0},
        Words(
            "id 0 is left out as padding, whatever pad_id is",
            "pad_id によらず id 0 をパディングとして除いています",
        ),
        Words(
            "id 0 is a real token here, and the padding stays in.",
            "ここでは id 0 は本物のトークンで、パディングのほうが残ります。",
        ),
        Words("which id is left out in your code?", "コードではどの id を除いていますか。"),
        Words("compare the targets with pad_id.", "正解を pad_id と比べてください。"),
        MASK,
    ),
    Mistake(
        "pad-inverted",
        {"real": lambda targets, pad_id: targets == pad_id},
        Words(
            "only the padding is counted: the mask is turned round",
            "マスクが逆で、パディングだけを数えています",
        ),
        ONLY_REAL,
        Words("does True in your mask mean keep?", "マスクの True は残す印ですか。"),
        Words("keep what is not pad_id.", "pad_id でないものを残してください。"),
        MASK,
    ),
)
"""Of any exercise with a step `real(targets, pad_id)`."""


def denominator(key: str, evidence: Evidence) -> Mistake:
    """The sum is right, the count is not."""
    return Mistake(
        key,
        {"averaged": lambda losses, real: np.where(real, losses, 0).sum() / real.size},
        Words(
            "padding adds nothing to the sum, but is still counted in the denominator",
            "パディングは合計からは除かれていますが、個数には入っています",
        ),
        Words(
            "the more padding, the better it looks.", "パディングが多いほど、損失が小さく見えます。"
        ),
        Words("by how many tokens do you divide?", "何個のトークンで割っていますか。"),
        BOTH,
        MASK,
        evidence,
    )


TOKEN_BY_TOKEN = Words(
    "a token of a short sentence then weighs more, and the result depends on the batches.",
    "短い文のトークンほど重くなり、バッチの分け方で結果が変わります。",
)
WEIGHS = Words(
    "does every token weigh the same in your mean?", "平均の中で、どのトークンも同じ重みですか。"
)
ALL_TOGETHER = Words(
    "add up the losses of all tokens, then divide by their number, once.",
    "全トークンの損失を合計し、その個数で一度だけ割ってください。",
)
BY_ROWS = Words(
    "each sentence is averaged by itself, then the averages are averaged",
    "文ごとに平均し、その平均をさらに平均しています",
)
