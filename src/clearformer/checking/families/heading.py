"""Slips in making heads of one width and joining them: the steps `split` and `merge`."""

from typing import Any

import numpy as np

from clearformer.checking.exercise import Mistake
from clearformer.checking.words import Words


def split(table: Any, n_heads: int) -> Any:
    """(…, T, H·d) to (…, H, T, d): head h takes the columns h·d to (h+1)·d - 1."""
    *lead, tokens, width = table.shape
    return table.reshape(*lead, tokens, n_heads, width // n_heads).swapaxes(-3, -2)


def merge(heads: Any) -> Any:
    """(…, H, T, d) to (…, T, H·d): the heads of one token side by side."""
    *lead, n_heads, tokens, width = heads.shape
    return heads.swapaxes(-3, -2).reshape(*lead, tokens, n_heads * width)


def split_in_place(table: Any, n_heads: int) -> Any:
    """Cut into (H, T, d) as the numbers lie in memory."""
    *lead, tokens, width = table.shape
    return table.reshape(*lead, n_heads, tokens, width // n_heads)


def merge_in_place(heads: Any) -> Any:
    """Cut into (T, H·d) as the numbers lie in memory."""
    *lead, n_heads, tokens, width = heads.shape
    return heads.reshape(*lead, tokens, n_heads * width)


def split_every_nth(table: Any, n_heads: int) -> Any:
    """Head h takes the columns h, h + H, h + 2H, …"""
    *lead, tokens, width = table.shape
    return np.moveaxis(table.reshape(*lead, tokens, width // n_heads, n_heads), -1, -3)


def merge_every_nth(heads: Any) -> Any:
    """The first numbers of all heads, then the second ones, …"""
    *lead, n_heads, tokens, width = heads.shape
    return np.moveaxis(heads, -3, -1).reshape(*lead, tokens, width * n_heads)


def unswapped(table: Any, n_heads: int) -> Any:
    """(…, T, H, d), the axes as the first reshape gives them."""
    *lead, tokens, width = table.shape
    return table.reshape(*lead, tokens, n_heads, width // n_heads)


MIXED = Words(
    "the numbers of different tokens end up in one row: it trains, but mixes positions.",
    "別のトークンの数が 1 行に混ざります。学習は進みますが位置が混ざります。",
)
BLOCKS = Words(
    "trained weights are laid out in blocks; read otherwise they make no sense.",
    "学習済みの重みはヘッドごとのまとまりで並び、別の読み方では意味を失います。",
)
SPLIT_FIX = Words(
    "reshape to (T, H, d) first, then swap the first two axes.",
    "まず (T, H, d) に変形し、それから前の 2 つの軸を入れ替えてください。",
)
SPLIT_LINE = "X.reshape(T, n_heads, d).swapaxes(0, 1)"
MERGE_FIX = Words(
    "swap heads and tokens back to (T, H, d), then reshape.",
    "(T, H, d) に軸を戻してから変形してください。",
)
MERGE_LINE = "heads.swapaxes(0, 1).reshape(T, n_heads * d)"
WHERE = Words(
    "where do the numbers of token 0 stand afterwards?",
    "トークン 0 の数は変形の後どこにありますか。",
)
WHICH_COLUMNS = Words("which columns belong to head 0?", "ヘッド 0 の列はどれですか。")

SPLIT_SLIPS = (
    Mistake(
        "heads-split-no-transpose",
        {"split": split_in_place},
        Words(
            "split by reshaping straight to (H, T, d), without swapping axes",
            "軸を入れ替えず、いきなり (H, T, d) に変形しています",
        ),
        MIXED,
        WHERE,
        SPLIT_FIX,
        SPLIT_LINE,
    ),
    Mistake(
        "heads-interleaved",
        {"split": split_every_nth},
        Words(
            "head h takes the columns h, h+H, …; expected blocks of neighbours",
            "ヘッド h が h, h+H, … の列を取っています。隣り合う列のまとまりにします",
        ),
        BLOCKS,
        WHICH_COLUMNS,
        Words(
            "reshape to (T, H, d), not (T, d, H).",
            "(T, d, H) でなく (T, H, d) に変形してください。",
        ),
        SPLIT_LINE,
    ),
    Mistake(
        "heads-width-swapped",
        {"split": lambda table, n_heads: split(table, table.shape[-1] // n_heads)},
        Words(
            "n_heads was taken for the width of a head",
            "n_heads をヘッドの幅として使っています",
        ),
        Words(
            "there are then as many heads as a head should be wide.",
            "ヘッドの数と幅が入れ替わってしまいます。",
        ),
        Words(
            "how many heads do you get, and how wide?", "ヘッドはいくつで、幅はいくつになりますか。"
        ),
        Words(
            "the width of a head is the whole width divided by n_heads.",
            "ヘッドの幅は、全体の幅を n_heads で割った数です。",
        ),
        "d = X.shape[-1] // n_heads",
    ),
)
"""Of any exercise with a step `split(table, n_heads)`."""

MERGE_SLIPS = (
    Mistake(
        "heads-merge-no-transpose",
        {"merge": merge_in_place},
        Words(
            "heads merged without swapping axes back (reshape straight from (H, T, d))",
            "軸を戻さずに (H, T, d) からそのまま結合しています",
        ),
        MIXED,
        WHERE,
        MERGE_FIX,
        MERGE_LINE,
    ),
    Mistake(
        "heads-interleaved",
        {"merge": merge_every_nth},
        Words(
            "the heads' numbers are shuffled into each other; expected one block per head",
            "ヘッドの数が 1 つおきに混ざっています。ヘッドごとのまとまりにします",
        ),
        BLOCKS,
        WHICH_COLUMNS,
        MERGE_FIX,
        MERGE_LINE,
    ),
)
"""Of any exercise with a step `merge(heads)`."""
