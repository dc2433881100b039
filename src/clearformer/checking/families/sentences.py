"""Probes with sentences of different length, filled up with padding."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from clearformer.checking.families.losing import SURE, one_number
from clearformer.checking.probe import Probe, normal
from clearformer.checking.words import Words

UNIFORM = "all alike"
"""A case where all logits are the same: the perplexity is their number, 6."""


def _says(mine: float, right: float) -> Words | None:
    if np.isclose(mine, right, 1e-3):
        return None
    return Words(
        f"with 6 tokens all alike your result is {mine:.3f}; it should be {right:.3f}.",
        f"6 個のトークンがすべて同じ確率のとき、結果は {mine:.3f} です (正しくは {right:.3f})。",
    )


uniform = one_number(UNIFORM, _says)
"""Evidence from that case."""


def sentences() -> Sequence[Probe]:
    """One row of tokens, then several; id 0 is a token except where it is the padding."""
    rows = [[0, 4, 1, 2, 2], [3, 0, 2, 2, 2], [1, 3, 4, 0, 2]]
    sure = np.array([0, 4, 2, 4, 3, 3])
    targets = np.array([0, *[2, 0] * 11, 2])
    likely, unlikely = normal(7, 24, 3), normal(8, 24, 3)
    likely[:2] = [1000, 999, 200], [-1000, 0, 999]
    unlikely[0] = [-800, 0, -1]
    return (
        _row("9 tokens", normal(1, 9, 5, scale=1.5), [0, 4, 1, 3, 0, 2, 4, 2, 2], 2),
        _row("padding is 0", normal(2, 7, 4, scale=1.5), [3, 1, 2, 3, 0, 0, 0], 0),
        _row("as many tokens as ids", normal(3, 5, 5), [0, 4, 0, 3, 3], 3),
        _row(SURE, normal(4, 6, 5) + 25 * np.eye(5)[sure], sure, 3),
        _row(UNIFORM, np.full((4, 6), 0.5), [0, 5, 2, 3], 3),
        _row("3 sentences", normal(5, 3, 5, 6, scale=1.5), rows, 2, batched=True),
        _row("2 sentences", normal(6, 2, 4, 3), [[0, 1, 0, 0], [1, 2, 2, 2]], 2, batched=True),
        _row(
            "logits of 1,000",
            likely,
            targets,
            1,
            role="stress",
            says=Words("logits of 1,000", "1,000 の logits"),
        ),
        _row(
            "an unlikely target",
            unlikely,
            targets,
            1,
            role="stress",
            says=Words("a target of probability exp(−800)", "確率 exp(−800) の正解"),
        ),
    )


def _row(name: str, logits: Any, targets: Any, pad_id: int, **more: Any) -> Probe:
    return Probe(name, {"logits": logits, "targets": np.asarray(targets), "pad_id": pad_id}, **more)
