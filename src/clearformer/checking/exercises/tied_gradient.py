"""The gradient of a table that is used twice: to look tokens up, and to score them."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from clearformer.checking.exercise import Case, Exercise, Mistake
from clearformer.checking.exercises.embedding_gradient import added, first_only, overwritten
from clearformer.checking.probe import Probe, normal
from clearformer.checking.words import Words


def right(step: Any, table: Any, ids: Any, d_inputs: Any, hidden: Any, d_logits: Any) -> Any:
    """Of table[ids] and of hidden tableᵀ together."""
    looked_up = step.looked_up(ids, d_inputs, len(table))
    return step.together(looked_up, step.scored(hidden, d_logits), ids)


def looked_up(ids: Any, d_inputs: Any, V: Any) -> Any:
    """Each row of the gradient to the row of its id, added up."""
    return added(ids.reshape(-1), d_inputs.reshape(-1, d_inputs.shape[-1]), V)


def scored(hidden: Any, d_logits: Any) -> Any:
    """logits = hidden tableᵀ, so d_table = d_logitsᵀ hidden."""
    V, C = d_logits.shape[-1], hidden.shape[-1]
    return d_logits.reshape(-1, V).T @ hidden.reshape(-1, C)


def _replaced(looked_up: Any, scored: Any, ids: Any) -> Any:
    found = scored.copy()
    found[ids] = looked_up[ids]
    return found


def probes() -> Sequence[Probe]:
    """Ids that come twice, and ids that never do; as many ids as numbers in a row once."""
    return (
        _of("4 tokens", 1, [2, 0, 2, 5], 6, 3),
        _of("6 tokens", 5, [0, 3, 3, 1, 3, 0], 5, 4),
        _of("as many ids as width", 9, [1, 3, 1], 4, 4),
        _of("each once", 13, [4, 0, 2], 7, 5),
        _of("the same three times", 17, [6, 6, 6], 8, 3),
    )


def _of(name: str, seed: int, ids: Sequence[int], V: int, C: int) -> Probe:
    T = len(ids)
    return Probe(
        name,
        {
            "table": normal(seed, V, C),
            "ids": np.array(ids),
            "d_inputs": normal(seed + 1, T, C),
            "hidden": normal(seed + 2, T, C),
            "d_logits": normal(seed + 3, T, V, scale=0.4),
        },
    )


def _unused_rows(cases: Mapping[str, Case]) -> Words | None:
    mine = cases["4 tokens"].mine["d_table"]
    empty = int((np.abs(mine) < 1e-9).all(-1).sum())
    if not empty:
        return None
    return Words(
        f"with ids 2, 0, 2, 5 of 6, {empty} rows of your gradient are 0; expected none.",
        f"語彙 6、id が 2, 0, 2, 5 のとき、勾配の {empty} 行が 0 です (正しくは 0 行)。",
    )


ONE = Words(
    "one table, two uses: with only one gradient, or two copies, they drift apart.",
    "1 つの表を 2 か所で使うので、片方だけや写しだと 2 つがずれていきます。",
)
WAYS = Words(
    "by how many ways does a number of the table reach the loss?",
    "表の 1 つの数が損失に届く道はいくつありますか。",
)
BOTH = Words("add the gradients of both uses.", "2 つの使い方の勾配を足してください。")
LINE = "np.add.at(d_table, ids, d_inputs); d_table += d_logits.T @ hidden"


def _together(key: str, step: Any, found: Words) -> Mistake:
    return Mistake(key, {"together": step}, found, ONE, WAYS, BOTH, LINE, _unused_rows)


def _repeated(step: Any, found: Words) -> Mistake:
    return Mistake(
        "embed-grad-overwrite",
        {"looked_up": step},
        found,
        Words(
            "frequent words would learn too little.", "よく出るトークンほど学習が足りなくなります。"
        ),
        Words(
            "if a token occurs twice, how many gradients reach its row?",
            "同じトークンが 2 回出たら、その行に届く勾配はいくつですか。",
        ),
        Words(
            "add up all gradients of the same id, for example with np.add.at.",
            "同じ id の勾配を、例えば np.add.at ですべて足してください。",
        ),
        LINE,
    )


EXERCISE = Exercise(
    name="tied_gradient",
    title=Words("The gradient of a tied table", "重みを共有した表の勾配"),
    task=Words(
        "With weight tying one table does two things: inputs = table[ids] at the beginning and "
        "logits = hidden tableᵀ at the end. Given the loss's gradients with respect to inputs "
        "and to logits, find the one of the table, from both uses together.\n"
        "table: (V, C). ids: (T,). d_inputs, hidden: (T, C). d_logits: (T, V). Batch axes may "
        "stand in front of the last four. Returns: (V, C).",
        "重み共有では 1 つの表を 2 回使います: 最初に inputs = table[ids]、最後に "
        "logits = hidden tableᵀ。inputs と logits についての損失の勾配から、"
        "2 つの使い方を合わせた表の勾配を求めます。\n"
        "table: (V, C)。ids: (T,)。d_inputs, hidden: (T, C)。d_logits: (T, V)。"
        "後ろの 4 つは前にバッチの軸があっても可。返り値: (V, C)。",
    ),
    right=right,
    steps={
        "looked_up": looked_up,
        "scored": scored,
        "together": lambda looked_up, scored, ids: looked_up + scored,
    },
    probes=probes,
    mistakes=(
        _together(
            "tie-copy",
            lambda looked_up, scored, ids: looked_up,
            Words(
                "only the look-up's gradient: the output layer is treated as a copy",
                "参照側の勾配だけで、出力層は写しとして扱われています",
            ),
        ),
        _together(
            "tie-copy",
            lambda looked_up, scored, ids: scored,
            Words(
                "only the output layer's gradient: the look-up is treated as a copy",
                "出力層の勾配だけで、参照側は写しとして扱われています",
            ),
        ),
        _together(
            "tie-averaged",
            lambda looked_up, scored, ids: (looked_up + scored) / 2,
            Words(
                "the two gradients are averaged, not added", "2 つの勾配を足さずに平均しています"
            ),
        ),
        _together(
            "tie-replaced",
            _replaced,
            Words(
                "in rows that were looked up, one gradient replaces the other (= for +=)",
                "参照された行で、片方の勾配を上書きしています (+= ではなく =)",
            ),
        ),
        _together(
            "tie-difference",
            lambda looked_up, scored, ids: looked_up - scored,
            Words("one gradient is subtracted from the other", "片方の勾配を引いています"),
        ),
        Mistake(
            "tie-transposed",
            {"scored": lambda hidden, d_logits: scored(hidden, d_logits).T},
            Words(
                "the output layer's gradient is turned: hiddenᵀ d_logits is (C, V)",
                "出力層の勾配が転置されています: hiddenᵀ d_logits は (C, V) です",
            ),
            ONE,
            Words("what shape has your product?", "積の形はどうなっていますか。"),
            Words("multiply d_logitsᵀ by hidden.", "d_logitsᵀ と hidden を掛けてください。"),
            LINE,
        ),
        *(
            _repeated(
                step,
                Words(
                    "of a token that occurs more than once only one gradient is kept",
                    "2 回以上出るトークンの勾配が 1 つしか残っていません",
                ),
            )
            for step in (overwritten, first_only)
        ),
    ),
    returns=("d_table",),
    batched=("ids", "d_inputs", "hidden", "d_logits"),
)
