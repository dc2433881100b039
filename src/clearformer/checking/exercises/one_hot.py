"""One-hot rows: each token id as a row with a single 1."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from clearformer.checking.exercise import Case, Exercise, Mistake
from clearformer.checking.probe import Probe
from clearformer.checking.words import Words


def right(step: Any, ids: Any, vocab_size: Any) -> Any:
    """Row t has its 1 in column ids[t]."""
    return step.laid(step.rows(step.counted(ids), vocab_size))


def rows(ids: Any, vocab_size: Any) -> Any:
    """A row of the identity for each id."""
    return np.eye(vocab_size)[ids]


def probes() -> Sequence[Probe]:
    """The first and the last id, repeated ids, and as many tokens as ids there are."""
    return (
        Probe("4 tokens of 6", {"ids": np.array([0, 3, 1, 3]), "vocab_size": 6}),
        Probe("the last id", {"ids": np.array([4, 0, 2]), "vocab_size": 5}),
        Probe("as many tokens as ids", {"ids": np.array([2, 0, 3, 0]), "vocab_size": 4}),
        Probe("7 tokens of 5", {"ids": np.array([1, 1, 4, 0, 2, 3, 4]), "vocab_size": 5}),
        Probe("7 tokens of 9", {"ids": np.array([8, 6, 4, 0, 2, 3, 4]), "vocab_size": 9}),
    )


def _place(cases: Mapping[str, Case]) -> Words | None:
    """Where the 1 of a row stands."""
    mine = cases["4 tokens of 6"].mine["output"]
    if mine.shape != (4, 6) or not mine.any(1).all():
        return None
    place = int(mine[1].argmax())
    return Words(
        f"the row of id 3 has its 1 in column {place}.", f"id 3 の行の 1 は列 {place} にあります。"
    )


EXERCISE = Exercise(
    name="one_hot",
    title=Words("One-hot rows", "one-hot ベクトル"),
    task=Words(
        "Write each token id as a row of zeros with a single 1 in its own column.\n"
        "ids: whole numbers (T,), from 0 to vocab_size - 1. Returns: (T, vocab_size).",
        "各トークン id を、自分の列だけが 1 で残りが 0 の行にします。\n"
        "ids: 整数 (T,)、0 から vocab_size - 1 まで。返り値: (T, vocab_size)。",
    ),
    right=right,
    steps={"counted": lambda ids: ids, "rows": rows, "laid": lambda table: table},
    probes=probes,
    mistakes=(
        Mistake(
            "onehot-side",
            {"laid": lambda table: table.T},
            Words(
                "one-hot is (vocab, tokens), expected (tokens, vocab)",
                "形が (語彙, トークン) です。(トークン, 語彙) にします",
            ),
            Words(
                "a row must be one token: it selects a row of the embedding table.",
                "1 行が 1 トークンで、埋め込み表の 1 行を選びます。",
            ),
            Words(
                "does a row stand for a token or for an id?", "1 行はトークンですか、id ですか。"
            ),
            Words(
                "one row per token, one column per id.", "行をトークン、列を id にしてください。"
            ),
            "table[np.arange(T), ids] = 1",
        ),
        Mistake(
            "onehot-offset",
            {"counted": lambda ids: ids - 1},
            Words(
                "the 1 stands one column early: ids start at 0, not at 1",
                "1 が 1 列前にあります。id は 1 ではなく 0 から始まります",
            ),
            Words(
                "id 0 wraps round to the last column, and every word becomes its neighbour.",
                "id 0 が最後の列に回り、どのトークンも隣のトークンになります。",
            ),
            Words("which column belongs to id 0?", "id 0 の列はどれですか。"),
            Words("use the id itself as the column.", "id をそのまま列番号に使ってください。"),
            "table[np.arange(T), ids] = 1",
            _place,
        ),
        Mistake(
            "onehot-offset",
            {"rows": lambda ids, vocab_size: np.eye(vocab_size + 1)[ids + 1, :vocab_size]},
            Words(
                "the 1 stands one column late: ids start at 0",
                "1 が 1 列後ろにあります。id は 0 から始まります",
            ),
            Words(
                "the last id has no column, and every word becomes its neighbour.",
                "最後の id の列がなくなり、どのトークンも隣のトークンになります。",
            ),
            Words("which column belongs to id 0?", "id 0 の列はどれですか。"),
            Words("use the id itself as the column.", "id をそのまま列番号に使ってください。"),
            "table[np.arange(T), ids] = 1",
            _place,
        ),
        Mistake(
            "onehot-all-rows",
            {
                "rows": lambda ids, vocab_size: np.tile(
                    np.eye(vocab_size)[ids].max(0), (len(ids), 1)
                )
            },
            Words(
                "every row has the 1s of all tokens: table[:, ids] sets columns in all rows",
                "どの行にも全トークンの 1 があります。table[:, ids] は全行の列を書き換えます",
            ),
            Words("the tokens can no longer be told apart.", "トークンの区別がなくなります。"),
            Words("how many 1s should a row have?", "1 行に 1 はいくつありますか。"),
            Words(
                "name a row with each column: 0, 1, … with ids.",
                "列番号 ids に、行番号 0, 1, … を組にして指定してください。",
            ),
            "table[np.arange(T), ids] = 1",
        ),
        Mistake(
            "onehot-counts",
            {"laid": lambda table: table.sum(0)},
            Words(
                "the rows were added up: how often each id occurs, without the order",
                "行が足されています。各 id の回数だけで、順序がありません",
            ),
            Words("which token stood where is lost.", "どのトークンがどこにあったかが失われます。"),
            Words("how many rows should 4 tokens give?", "4 トークンなら何行になりますか。"),
            Words("keep one row for each token.", "トークンごとに 1 行を残してください。"),
            "np.eye(vocab_size)[ids]",
        ),
    ),
)
