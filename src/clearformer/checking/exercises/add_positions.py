"""Adding positions to embedded tokens."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from clearformer.checking.exercise import Exercise, Mistake, Step
from clearformer.checking.probe import Probe, normal
from clearformer.checking.words import Words


def right(step: Any, x: Any, table: Any) -> Any:
    """x[b, t] + table[t]."""
    return step.joined(step.sized(x), step.rows(table, x))


def rows(table: Any, x: Any) -> Any:
    """One row for each of the T positions, the same for every sequence."""
    return table[: x.shape[1]]


def by_sequence(table: Any, x: Any) -> Any:
    """One row for each sequence, the same for all of its positions."""
    return table[: x.shape[0], None]


def probes() -> Sequence[Probe]:
    """Fewer sequences than tokens, more, as many; a table longer than any, and one just as long."""
    return (
        Probe("3 sequences of 5", {"x": normal(251, 3, 5, 4), "table": normal(252, 9, 4)}),
        Probe("6 sequences of 4", {"x": normal(253, 6, 4, 3), "table": normal(254, 8, 3)}),
        Probe("4 sequences of 4", {"x": normal(255, 4, 4, 5), "table": normal(256, 7, 5)}),
        Probe("a table as long", {"x": normal(257, 3, 6, 7), "table": normal(258, 6, 7)}),
    )


ORDER = Words(
    "attention sees a set; only these rows tell it which token comes first.",
    "アテンションは順序のない集合を見るだけです。順序はこの行だけが伝えます。",
)
ASK = Words("which axis of x is the position?", "x のどの軸が位置ですか。")
FIX = Words(
    "add table[:T], T the length of the second axis.",
    "2 番目の軸の長さを T として table[:T] を足してください。",
)
CODE = "x + table[: x.shape[1]]"


ONLY_ADD = Words(
    "leave x as it is and add the rows to it, nothing more.",
    "x はそのままにし、行を足すだけにしてください。",
)
ZERO = Words(
    "what comes out where the table is all zeros? And where x is?",
    "表がすべて 0 なら何が出ますか。x がすべて 0 なら。",
)


def _slip(key: str, step: Step, en: str, ja: str) -> Mistake:
    """Other rows are taken."""
    return Mistake(key, {"rows": step}, Words(en, ja), ORDER, ASK, FIX, CODE)


def _sum(key: str, change: Mapping[str, Step], en: str, ja: str) -> Mistake:
    """It is no plain sum."""
    return Mistake(key, change, Words(en, ja), ORDER, ZERO, ONLY_ADD, CODE)


EXERCISE = Exercise(
    name="add_positions",
    title=Words("Adding positions", "位置を足す"),
    task=Words(
        "Give each token its place: add row t of the table to token t of every sequence.\n"
        "x: (B, T, d), embedded tokens; table: (longest, d), at least T rows. Returns: (B, T, d).",
        "各トークンに場所を与えます。どの系列でも、t 番目のトークンに表の t 行目を足します。\n"
        "x: (B, T, d) 埋め込み済みのトークン、table: (最大長, d)、T 行以上。返り値: (B, T, d)。",
    ),
    right=right,
    steps={
        "sized": lambda x: x,
        "rows": rows,
        "joined": lambda x, rows: x + rows,
    },
    probes=probes,
    mistakes=(
        _slip(
            "pe-batch-axis",
            by_sequence,
            "the position was taken from the batch axis: all tokens of a sequence get one row",
            "位置をバッチの軸から取っています。系列内の全トークンが同じ行になります",
        ),
        _slip(
            "pe-index-not-slice",
            lambda table, x: table[min(x.shape[1], len(table) - 1)],
            "row T alone was added to every token, instead of rows 0 to T-1",
            "0 から T-1 行目ではなく、T 行目だけを全トークンに足しています",
        ),
        _slip(
            "pe-index-not-slice",
            lambda table, x: table[x.shape[1] - 1],
            "the last row alone was added to every token",
            "最後の 1 行だけを全トークンに足しています",
        ),
        _slip(
            "pe-first-only",
            lambda table, x: table[0],
            "row 0 was added to every token",
            "0 行目を全トークンに足しています",
        ),
        _slip(
            "pe-starts-at-1",
            lambda table, x: np.roll(table, -1, 0)[: x.shape[1]],
            "positions start at row 1; the first is row 0",
            "1 行目から始まっています。最初は 0 行目です",
        ),
        _slip(
            "pe-from-the-end",
            lambda table, x: table[-x.shape[1] :],
            "the last T rows were added, not the first",
            "最初の T 行ではなく、最後の T 行を足しています",
        ),
        _sum(
            "pe-not-added",
            {"joined": lambda x, rows: x},
            "nothing was added",
            "何も足されていません",
        ),
        _sum(
            "pe-multiplied",
            {"joined": lambda x, rows: x * rows},
            "multiplied instead of added",
            "足さずに掛けています",
        ),
        _sum(
            "embed-scale",
            {"sized": lambda x: x * np.sqrt(x.shape[-1])},
            "x was multiplied by √d first; it comes as it is to be used",
            "先に x を √d 倍しています。ここではそのまま使います",
        ),
    ),
)
