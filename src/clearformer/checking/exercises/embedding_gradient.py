"""The gradient of the embedding table: rows of tokens that occur more than once add up."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from clearformer.checking.exercise import Case, Exercise, Mistake
from clearformer.checking.probe import Probe, normal
from clearformer.checking.words import Words


def right(step: Any, ids: Any, grad: Any, vocab_size: Any) -> Any:
    """dL/dtable: row v is the sum of grad[t] over all t with ids[t] = v."""
    table = step.gathered(ids, grad, vocab_size)
    return step.sized(table, ids, vocab_size)


def added(ids: Any, grad: Any, vocab_size: Any) -> Any:
    """Each row of grad added to the row of its id."""
    table = np.zeros((vocab_size, grad.shape[-1]))
    np.add.at(table, ids, grad)
    return table


def overwritten(ids: Any, grad: Any, vocab_size: Any) -> Any:
    """As `table[ids] += grad` does: of a repeated id only the last counts."""
    table = np.zeros((vocab_size, grad.shape[-1]))
    table[ids] += grad
    return table


def first_only(ids: Any, grad: Any, vocab_size: Any) -> Any:
    """Of a repeated id only the first counts."""
    return overwritten(ids[::-1], grad[::-1], vocab_size)


def _counts(ids: Any, vocab_size: Any) -> Any:
    return np.maximum(np.bincount(ids, minlength=vocab_size), 1)[:, None]


def probes() -> Sequence[Probe]:
    """Ids that occur once, twice and three times, and some that never do."""
    return tuple(
        Probe(name, {"ids": np.array(ids), "grad": normal(seed, len(ids), d), "vocab_size": size})
        for seed, (name, ids, d, size) in enumerate(
            (
                ("ids 1, 1, 2", [1, 1, 2], 4, 5),
                ("three times the same", [3, 0, 3, 5, 3], 3, 7),
                ("each once", [4, 0, 2, 1], 3, 5),
                ("first and last", [0, 3, 0, 3, 1, 2], 5, 4),
                ("as many as there are", [2, 2, 0], 3, 3),
            ),
            91,
        )
    )


def _row(cases: Mapping[str, Case]) -> Words | None:
    """Row 1 of the first case, where the id occurs twice."""
    case = cases["ids 1, 1, 2"]
    mine, right = case.mine["output"], case.right["output"]
    if mine.shape != right.shape:
        return None
    return Words(
        f"id 1 occurs twice: its row starts with {mine[1, 0]:.3f}, the sum is {right[1, 0]:.3f}.",
        f"id 1 は 2 回出ます。その行の先頭は {mine[1, 0]:.3f}、和は {right[1, 0]:.3f} です。",
    )


WHY = Words(
    "frequent words would learn too little.", "よく出るトークンほど学習が足りなくなります。"
)
ASK = Words(
    "if a token occurs twice, how many gradients reach its row?",
    "同じトークンが 2 回出たら、その行に届く勾配はいくつですか。",
)
FIX = Words(
    "add up all gradients of the same id, for example with np.add.at.",
    "同じ id の勾配を、例えば np.add.at ですべて足してください。",
)
CODE = "np.add.at(dtable, ids, grad)"

EXERCISE = Exercise(
    name="embedding_gradient",
    title=Words("Gradient of the embedding", "埋め込みの勾配"),
    task=Words(
        "grad[t] is the gradient of the loss L with respect to the vector of token t. "
        "Find dL/dtable: row v is the sum of grad[t] over all t with ids[t] = v; rows not used "
        "are 0. ids: (T,); grad: (T, d). Returns: (vocab_size, d).",
        "トークン t に渡したベクトルについての損失の勾配が grad[t] です。dL/dtable を求めます:\n"
        "行 v は ids[t] = v となる t すべての grad[t] の和。使われない行は 0 です。\n"
        "ids: (T,)、grad: (T, d)。返り値: (vocab_size, d)。",
    ),
    right=right,
    steps={"gathered": added, "sized": lambda table, ids, vocab_size: table},
    probes=probes,
    mistakes=(
        Mistake(
            "embed-grad-overwrite",
            {"gathered": overwritten},
            Words(
                "of a token that occurs twice only the last gradient is kept (dE[ids] += g)",
                "2 回出るトークンの勾配が最後のものだけです (dE[ids] += g)",
            ),
            WHY,
            ASK,
            FIX,
            CODE,
            _row,
        ),
        Mistake(
            "embed-grad-first",
            {"gathered": first_only},
            Words(
                "of a token that occurs twice only the first gradient is kept",
                "2 回出るトークンの勾配が最初のものだけです",
            ),
            WHY,
            ASK,
            FIX,
            CODE,
            _row,
        ),
        Mistake(
            "embed-grad-mean",
            {"sized": lambda table, ids, vocab_size: table / _counts(ids, vocab_size)},
            Words(
                "gradients of the same token were averaged, not added",
                "同じトークンの勾配を足さずに平均しています",
            ),
            WHY,
            ASK,
            FIX,
            CODE,
            _row,
        ),
        Mistake(
            "embed-grad-divided",
            {"sized": lambda table, ids, vocab_size: table / len(ids)},
            Words(
                "divided by the number of tokens; grad holds that already",
                "トークン数で割っています。grad にはすでに含まれています",
            ),
            Words(
                "the mean is taken in the loss, and only once.", "平均は損失で 1 回だけ取ります。"
            ),
            Words("where was the mean taken?", "平均はどこで取られましたか。"),
            Words("only add; do not divide.", "足すだけで、割らないでください。"),
            CODE,
            _row,
        ),
        Mistake(
            "onehot-side",
            {"sized": lambda table, ids, vocab_size: table.T},
            Words(
                "the table is (d, vocab), expected (vocab, d)",
                "表が (d, 語彙) です。(語彙, d) にします",
            ),
            Words(
                "a gradient has the shape of what it belongs to.", "勾配は元の配列と同じ形です。"
            ),
            Words("what shape has the table?", "表の形は何ですか。"),
            Words("one row per id.", "id ごとに 1 行にしてください。"),
            "one_hot(ids).T @ grad",
        ),
    ),
)
