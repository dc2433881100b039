"""Heads laid side by side again."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from clearformer.checking.exercise import Exercise, Mistake
from clearformer.checking.families.heading import MERGE_FIX, MERGE_LINE, MERGE_SLIPS, merge
from clearformer.checking.probe import Probe
from clearformer.checking.words import Words


def right(step: Any, heads: Any) -> Any:
    """The heads of one token side by side."""
    return step.merge(heads)


def _counted(n_heads: int, tokens: int, width: int) -> Any:
    """312 is head 3, token 1, number 2: each number says where it was."""
    head, token, place = np.ogrid[:n_heads, :tokens, :width]
    return 100.0 * head + 10 * token + place


def probes() -> Sequence[Probe]:
    """Sizes that are all different; as many heads as tokens; heads as wide as there are tokens."""
    sizes = {
        "3 heads of 5 tokens": (3, 5, 4),
        "4 heads of 4 tokens": (4, 4, 3),
        "3 heads of 4 tokens": (3, 4, 4),
        "5 heads of 3 tokens": (5, 3, 4),
        "as many of all": (3, 3, 3),
        "one head": (1, 4, 6),
    }
    return [Probe(name, {"heads": _counted(*shape)}) for name, shape in sizes.items()]


BESIDE = Words(
    "each head found something else; together they need all their places.",
    "ヘッドごとに見つけたものが違うので、すべての場所が必要です。",
)
HOW_WIDE = Words("how wide should a row be afterwards?", "結合した後の行の幅はいくつですか。")

EXERCISE = Exercise(
    name="merge_heads",
    title=Words("Merging heads", "ヘッドを結合する"),
    task=Words(
        "Lay the heads of each token side by side: head 0 first, then head 1, …\n"
        "heads: (H, T, d), with any batch axes before it or none.\n"
        "Returns: (T, H·d), behind the same batch axes. It undoes split_heads.",
        "各トークンのヘッドを横に並べます: ヘッド 0、ヘッド 1、… の順です。\n"
        "heads: (H, T, d)。前にバッチの軸があっても可。\n"
        "返り値: (T, H·d)。バッチの軸はそのまま前に。split_heads の逆です。",
    ),
    right=right,
    steps={"merge": merge},
    probes=probes,
    mistakes=(
        *MERGE_SLIPS,
        *(
            Mistake(
                "heads-averaged",
                {"merge": step},
                Words(
                    "the heads were averaged or added up, not laid side by side",
                    "ヘッドを並べず、平均または合計しています",
                ),
                BESIDE,
                HOW_WIDE,
                MERGE_FIX,
                MERGE_LINE,
            )
            for step in (
                lambda heads: heads.mean(-3),
                lambda heads: heads.sum(-3),
                lambda heads: heads.max(-3),
            )
        ),
        Mistake(
            "heads-below-each-other",
            {"merge": lambda heads: heads.reshape(*heads.shape[:-3], -1, heads.shape[-1])},
            Words(
                "the heads stand below each other, not side by side",
                "ヘッドが横でなく縦に並んでいます",
            ),
            Words(
                "there would be more rows than tokens.", "行の数がトークンの数より多くなります。"
            ),
            Words("how many rows should there be?", "行はいくつになるはずですか。"),
            MERGE_FIX,
            MERGE_LINE,
        ),
    ),
    batched=("heads",),
)
