"""One wide table cut into heads."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from clearformer.checking.exercise import Exercise, Mistake
from clearformer.checking.families.heading import (
    SPLIT_FIX,
    SPLIT_LINE,
    SPLIT_SLIPS,
    split,
    unswapped,
)
from clearformer.checking.probe import Probe
from clearformer.checking.words import Words


def right(step: Any, X: Any, n_heads: Any) -> Any:
    """Head h takes the columns h·d to (h+1)·d - 1."""
    return step.split(X, n_heads)


def _counted(tokens: int, width: int) -> Any:
    """11 is token 1, column 1: each number says where it was."""
    return 10.0 * np.arange(tokens)[:, None] + np.arange(width)


def probes() -> Sequence[Probe]:
    """Sizes that are all different; as many heads as tokens; heads as wide as there are tokens."""
    return (
        Probe("5 tokens, 3 heads of 4", {"X": _counted(5, 12), "n_heads": 3}),
        Probe("4 tokens, 4 heads of 3", {"X": _counted(4, 12), "n_heads": 4}),
        Probe("4 tokens, 3 heads of 4", {"X": _counted(4, 12), "n_heads": 3}),
        Probe("3 tokens, 5 heads of 4", {"X": _counted(3, 20), "n_heads": 5}),
        Probe("6 tokens, 3 heads of 3", {"X": _counted(6, 9), "n_heads": 3}),
        Probe("one head", {"X": _counted(4, 6), "n_heads": 1}),
    )


EXERCISE = Exercise(
    name="split_heads",
    title=Words("Splitting into heads", "ヘッドに分ける"),
    task=Words(
        "Cut a table into heads: head h takes the columns h·d to (h+1)·d − 1 of every token.\n"
        "X: (T, H·d), with any batch axes before it or none. n_heads: H, a whole number.\n"
        "Returns: (H, T, d), behind the same batch axes.",
        "表をヘッドに分けます: ヘッド h は各トークンの h·d から (h+1)·d − 1 までの列を取ります。\n"
        "X: (T, H·d)。前にバッチの軸があっても可。n_heads: 整数 H。\n"
        "返り値: (H, T, d)。バッチの軸はそのまま前に。",
    ),
    right=right,
    steps={"split": split},
    probes=probes,
    mistakes=(
        *SPLIT_SLIPS,
        Mistake(
            "heads-not-swapped",
            {"split": unswapped},
            Words(
                "tokens come before heads, (T, H, d); expected (H, T, d)",
                "(T, H, d) の順になっています。(H, T, d) にします",
            ),
            Words(
                "scores would compare the heads of one token, not the tokens of one head.",
                "同じトークンのヘッドどうしを比べることになります。",
            ),
            Words("which two axes should the scores compare?", "どの軸どうしを比べるのですか。"),
            SPLIT_FIX,
            SPLIT_LINE,
        ),
        Mistake(
            "heads-columns-turned",
            {"split": lambda table, n_heads: split(table, n_heads).swapaxes(-1, -2)},
            Words(
                "each head stands on its side: (H, d, T) instead of (H, T, d)",
                "各ヘッドが転置されています: (H, T, d) ではなく (H, d, T)",
            ),
            Words("a row has to be one token.", "1 行が 1 つのトークンでなければなりません。"),
            Words("what is a row of head 0?", "ヘッド 0 の 1 行は何ですか。"),
            SPLIT_FIX,
            SPLIT_LINE,
        ),
    ),
    batched=("X",),
)
