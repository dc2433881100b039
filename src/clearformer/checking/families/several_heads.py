"""Slips in attention with several heads, from splitting to the output projection."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from clearformer.checking.exercise import Case, Mistake
from clearformer.checking.families.heading import (
    MERGE_FIX,
    MERGE_LINE,
    MERGE_SLIPS,
    SPLIT_FIX,
    SPLIT_LINE,
    SPLIT_SLIPS,
    merge_every_nth,
    split,
    split_every_nth,
    unswapped,
)
from clearformer.checking.families.projecting import PROJECTING, project, turned
from clearformer.checking.families.scaling import BY_WIDTH, ONCE, SPREAD
from clearformer.checking.families.softmaxing import SOFTMAXING, softmax
from clearformer.checking.words import Words


def _blocks(W: Any, n_heads: int) -> Any:
    """Only what leads from the columns of a head to the same head."""
    return np.where(np.kron(np.eye(n_heads), np.ones([len(W) // n_heads] * 2)) > 0, W, 0)


def _shuffled(cases: Mapping[str, Case]) -> Words | None:
    """Of which tokens the first row holds the heads."""
    case = cases["heads side by side"]
    mine, right = case.mine["output"], split(case.right["output"], 2)
    held = []
    for piece in mine[0].reshape(2, 3):
        at = np.argwhere(np.isclose(right, piece, 1e-4, 1e-6).all(-1))
        if not len(at):
            return None
        held.append(tuple(int(each) for each in at[0]))
    return Words(
        "with W_O = identity your row 0 holds "
        + " and ".join(f"head {head} of token {token}" for head, token in held)
        + ".",
        "W_O を単位行列にすると 0 行目は"
        + "と".join(f"トークン {token} のヘッド {head}" for head, token in held)
        + "です。",
    )


def _averaged(merged: Any, out: Any) -> Mistake:
    return Mistake(
        "heads-averaged",
        {"merge": merged, "out": out},
        Words("the heads were averaged, not laid side by side", "ヘッドを並べず平均しています"),
        Words(
            "each head found something else; an average blurs it.",
            "ヘッドごとに見つけたものが、平均でぼやけます。",
        ),
        Words("how wide is a row before W_O?", "W_O を掛ける前の行の幅はいくつですか。"),
        MERGE_FIX,
        MERGE_LINE,
    )


TURNED = Words("which axis of W_O meets the heads?", "W_O のどの軸がヘッドに掛かりますか。")

HEADS = (
    *SPLIT_SLIPS,
    replace(MERGE_SLIPS[0], evidence=_shuffled),
    *MERGE_SLIPS[1:],
    replace(SPLIT_SLIPS[1], change={"split": split_every_nth, "merge": merge_every_nth}),
    Mistake(
        "heads-not-swapped",
        {"split": unswapped, "merge": lambda heads: heads.reshape(*heads.shape[:-2], -1)},
        Words(
            "heads and tokens never change places: each token's heads look at each other",
            "ヘッドとトークンの軸が入れ替わらず、同じトークンのヘッドどうしが見合っています",
        ),
        Words("no token ever sees another one.", "他のトークンがまったく見えません。"),
        Words("which shape have your scores?", "スコアの形は何ですか。"),
        SPLIT_FIX,
        SPLIT_LINE,
    ),
    Mistake(
        "heads-sliced-input",
        {"seen": _blocks},
        Words(
            "each head sees only its own part of X (split before the projection)",
            "各ヘッドが X の一部しか見ていません (射影の前に分けています)",
        ),
        Words(
            "a head has to be able to look at every feature of a token.",
            "ヘッドはトークンのすべての特徴を見られなければなりません。",
        ),
        Words("how wide is what a head is made from?", "ヘッドの元になる行の幅はいくつですか。"),
        Words("multiply by the whole weights, then split.", "重み全体を掛けてから分けてください。"),
        "Q = split(X @ W_Q)",
    ),
    _averaged(lambda heads: heads.mean(-3), lambda Y, W_O: Y),
    _averaged(lambda heads: heads.mean(-3), lambda Y, W_O: Y @ W_O[: Y.shape[-1]]),
    _averaged(lambda heads: np.concatenate([heads.mean(-3)] * heads.shape[-3], -1), project),
    Mistake(
        "no-W_O",
        {"out": lambda Y, W_O: Y},
        Words("the output projection W_O is not used", "出力の射影 W_O が使われていません"),
        Words(
            "without it the heads stay apart and never speak to each other.",
            "これがないとヘッドが別々のままで、混ざりません。",
        ),
        Words("where in your code does W_O appear?", "コードの中で W_O はどこに出てきますか。"),
        Words("multiply the merged heads by W_O.", "結合したヘッドに W_O を掛けてください。"),
        "output = merged @ W_O",
    ),
    Mistake(
        "W_O-transposed",
        {"out": turned},
        Words("W_O used as (out, in): W_O.T", "W_O を (出力, 入力) として使っています: W_O.T"),
        Words(
            "W_O is square, so nothing stops; the values are wrong.",
            "W_O は正方形なので止まらず、値だけが違います。",
        ),
        TURNED,
        Words("multiply by W_O as it is.", "W_O をそのまま掛けてください。"),
        "output = merged @ W_O",
    ),
    replace(PROJECTING[0], change={**PROJECTING[0].change, "out": turned}),
    Mistake(
        "scale-n-heads",
        {"scaled": lambda products, Q, X: products / np.sqrt(products.shape[-3])},
        Words(
            "divided by the root of the number of heads, not of a head's width",
            "ヘッドの幅ではなく、ヘッドの数の平方根で割っています",
        ),
        SPREAD,
        Words(
            "how many numbers does one dot product add up?", "1 つの内積はいくつの数を足しますか。"
        ),
        ONCE,
        BY_WIDTH,
    ),
)
"""Of one with the steps `seen(W, n_heads)`, `split`, `merge` and `out(merged, W_O)` around those of
one head; a case called "heads side by side" has two heads of 3."""

SOFTMAX_OVER_HEADS = replace(
    SOFTMAXING[0],
    change={"weights": lambda scores: softmax(scores, -3)},
    found=Words(
        "softmax taken over the heads instead of the keys (the last axis)",
        "最後の軸 (キー) ではなく、ヘッドの軸で softmax を取っています",
    ),
)
