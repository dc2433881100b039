"""Slips in turning scores into weights: the step `weights(scores)`, along the last axis."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from clearformer.checking.exercise import Case, Mistake, Step
from clearformer.checking.words import Words


def softmax(scores: Any, axis: int | None = -1) -> Any:
    """exp(x - max) / Σ exp(x - max) along `axis`."""
    return shares(np.exp(scores - scores.max(axis, keepdims=True)), axis)


def shares(raised: Any, axis: int | None = -1) -> Any:
    """Divided by the sum along `axis`."""
    return raised / raised.sum(axis, keepdims=True)


def _over(axes: Sequence[int | None]) -> list[Step]:
    """Along each of the wrong axes; the maximum may still be that of the row."""
    whole = [partial(softmax, axis=axis) for axis in axes]
    return [*whole, *(partial(_rows_lowered, axis=axis) for axis in axes)]


def _rows_lowered(scores: Any, axis: int | None) -> Any:
    return shares(np.exp(scores - scores.max(-1, keepdims=True)), axis)


def _unkept_sum(scores: Any) -> Any:
    raised = np.exp(scores - scores.max(-1, keepdims=True))
    return raised / raised.sum(-1)


def _unkept_sum_unlowered(scores: Any) -> Any:
    """Nothing subtracted, or one maximum for all, which comes to the same."""
    raised = np.exp(scores - scores.max())
    return raised / raised.sum(-1)


def _unkept_both(scores: Any) -> Any:
    raised = np.exp(scores - scores.max(-1))
    return raised / raised.sum(-1)


def _unkept_max(scores: Any) -> Any:
    return shares(np.exp(scores - scores.max(-1)))


def _with_floor(scores: Any) -> Any:
    return shares(np.exp(scores - np.maximum(scores.max(-1, keepdims=True), 0)))


def sums(cases: Mapping[str, Case]) -> Words | None:
    """What rows and columns of the weights add up to, where a case shows them."""
    shown = next((case for name, case in cases.items() if name.startswith("weights")), None)
    mine = shown.mine["output"] if shown else np.zeros(0)
    if mine.ndim > 2:
        mine = mine.reshape(-1, *mine.shape[-2:])[0]  # the first of a batch
    if mine.ndim != 2 or not np.isfinite(mine).all():
        return None
    rows = ", ".join(f"{value:.2f}" for value in mine.sum(1))
    columns = ", ".join(f"{value:.2f}" for value in mine.sum(0))
    return Words(
        f"your rows sum to {rows}; your columns to {columns}.",
        f"あなたの行の和は {rows}、列の和は {columns} です。",
    )


ROWS = Words(
    "each row is one distribution: its shares must add up to 1.",
    "各行は 1 つの確率分布で、和は 1 でなければなりません。",
)

UNKEPT_SUM = Words(
    "keepdims is missing: each column is divided by another row's sum",
    "keepdims がないため、各列が別の行の和で割られています",
)
UNKEPT_BOTH = Words(
    "keepdims is missing: maximum and sum of each row are laid on a column",
    "keepdims がないため、各行の最大値と和が列に適用されています",
)
UNKEPT_MAX = Words(
    "keepdims is missing at the maximum: each column is lowered by another row's maximum",
    "最大値に keepdims がないため、各列から別の行の最大値が引かれています",
)

SOFTMAXING = (
    *(
        Mistake(
            "softmax-axis0",
            {"weights": step},
            found=Words(
                "softmax taken down the columns (axis 0 instead of the last axis)",
                "列方向 (最後の軸ではなく axis 0) に softmax を取っています",
            ),
            why=ROWS,
            ask=Words(
                "along which axis do your results add up to 1?",
                "結果の和が 1 になるのはどの軸ですか。",
            ),
            fix=Words(
                "take maximum and sum over the last axis and keep that axis.",
                "最大値も和も最後の軸で取り、その軸を残してください。",
            ),
            code="e / e.sum(axis=-1, keepdims=True)",
            evidence=sums,
        )
        for step in _over((0, -2))
    ),
    *(
        Mistake(
            "softmax-whole",
            {"weights": step},
            found=Words(
                "one sum over the whole array (no axis given)",
                "配列全体で 1 つの和を取っています (軸の指定がありません)",
            ),
            why=ROWS,
            ask=Words(
                "how many sums does a table of 3 rows need?", "3 行の表には和がいくつ要りますか。"
            ),
            fix=Words("sum over the last axis only.", "最後の軸だけで和を取ってください。"),
            code="e / e.sum(axis=-1, keepdims=True)",
            evidence=sums,
        )
        for step in _over((None,))
    ),
    *(
        Mistake(
            "softmax-keepdims",
            {"weights": step},
            found=found,
            why=Words(
                "on square tables, as attention has, this is silent; on others it crashes.",
                "アテンションのような正方形の表では気づかれず、それ以外では止まります。",
            ),
            ask=Words(
                "what shape have your sum and your maximum, and against which axis are they laid?",
                "和や最大値の形は何で、どの軸に沿って並べられますか。",
            ),
            fix=Words(
                "keep the axis of maximum and sum: keepdims=True.",
                "最大値と和の軸を keepdims=True で残してください。",
            ),
            code="e = np.exp(x - x.max(axis=-1, keepdims=True)); e / e.sum(axis=-1, keepdims=True)",
        )
        for step, found in (
            (_unkept_sum, UNKEPT_SUM),
            (_unkept_sum_unlowered, UNKEPT_SUM),
            (_unkept_both, UNKEPT_BOTH),
            (_unkept_max, UNKEPT_MAX),
        )
    ),
    Mistake(
        "softmax-bracket",
        {"weights": lambda scores: np.exp(scores / np.exp(scores).sum(-1, keepdims=True))},
        found=Words(
            "the bracket closes too late: exp(x / Σ exp x) instead of exp(x) / Σ exp x",
            "括弧の位置が違います: exp(x) / Σ exp x ではなく exp(x / Σ exp x)",
        ),
        why=ROWS,
        ask=Words("what exactly stands inside exp( )?", "exp( ) の中には何が入っていますか。"),
        fix=Words(
            "close the bracket of exp before dividing.", "割る前に exp の括弧を閉じてください。"
        ),
        code="np.exp(x) / np.exp(x).sum(axis=-1, keepdims=True)",
        evidence=sums,
    ),
    Mistake(
        "softmax-no-exp",
        {"weights": shares},
        found=Words(
            "the scores themselves were divided by their sum (exp is missing)",
            "スコアそのものを和で割っています (exp がありません)",
        ),
        why=Words(
            "without exp shares can be negative or larger than 1.",
            "exp がないと、割合が負になったり 1 を超えたりします。",
        ),
        ask=Words("can a share be negative?", "割合が負になることはありますか。"),
        fix=Words("raise e to each score first.", "まず各スコアの指数を取ってください。"),
        code="e = np.exp(x - x.max(axis=-1, keepdims=True))",
        evidence=sums,
    ),
    Mistake(
        "softmax-no-max",
        {"weights": lambda scores: shares(np.exp(scores))},
        found=Words(
            "no maximum subtracted: exp overflows above 88.7 in float32, 709.8 in float64",
            "最大値を引いていません: exp は float32 の 88.7、float64 の 709.8 で無限大になります",
        ),
        why=Words(
            "one large score turns the whole row into NaN.",
            "大きいスコアが 1 つあると行全体が NaN になります。",
        ),
        ask=Words("what is exp(1000)?", "exp(1000) はいくつですか。"),
        fix=Words("subtract the row's maximum first.", "先に行の最大値を引いてください。"),
        code="x - x.max(axis=-1, keepdims=True)",
        beside=True,
    ),
    Mistake(
        "softmax-global-max",
        {"weights": lambda scores: shares(np.exp(scores - scores.max()))},
        found=Words(
            "one maximum for the whole array: rows with small scores become 0/0",
            "配列全体で 1 つの最大値を引いています: 小さいスコアの行が 0/0 になります",
        ),
        why=Words(
            "a row must not depend on the numbers of another row.",
            "行の結果は他の行の数に左右されてはいけません。",
        ),
        ask=Words(
            "what is left of the row [0, 0] when 1,000 is subtracted?",
            "行 [0, 0] から 1,000 を引くと何が残りますか。",
        ),
        fix=Words("subtract each row's own maximum.", "各行から、その行の最大値を引いてください。"),
        code="x - x.max(axis=-1, keepdims=True)",
        beside=True,
    ),
    Mistake(
        "softmax-max-floor-0",
        {"weights": _with_floor},
        found=Words(
            "the maximum that is subtracted is never below 0",
            "引いている最大値が 0 より小さくなりません",
        ),
        why=Words(
            "rows with only very negative scores become 0/0.",
            "とても小さい負のスコアだけの行が 0/0 になります。",
        ),
        ask=Words("what is the maximum of [−1000, −999]?", "[−1000, −999] の最大値は何ですか。"),
        fix=Words(
            "start the maximum from the row itself.", "最大値は行そのものから取ってください。"
        ),
        code="x - x.max(axis=-1, keepdims=True)",
        beside=True,
    ),
)
"""Of any exercise with a step `weights(scores)`; cases named "weights…" return the weights."""
