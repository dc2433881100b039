"""Looking up rows of the embedding table."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from clearformer.checking.exercise import Exercise, Mistake, Variant
from clearformer.checking.families import modules
from clearformer.checking.probe import Probe, normal
from clearformer.checking.words import Words


def right(step: Any, ids: Any, table: Any) -> Any:
    """Row ids[t] of the table for each token."""
    return step.sized(step.rows(step.counted(ids), table), table)


def probes() -> Sequence[Probe]:
    """The first and the last id, a repeated one, a table that is square, a batch."""
    return (
        Probe("5 tokens", {"ids": np.array([0, 3, 1, 3, 6]), "table": normal(81, 7, 4)}),
        Probe("the last id", {"ids": np.array([4, 0, 2]), "table": normal(82, 5, 6)}),
        Probe("a square table", {"ids": np.array([2, 0, 3]), "table": normal(83, 4, 4)}),
        Probe("as many tokens as ids", {"ids": np.array([2, 0, 2]), "table": normal(84, 3, 5)}),
        Probe(
            "a batch",
            {"ids": np.array([[1, 0, 5, 5], [4, 2, 3, 0]]), "table": normal(85, 6, 3)},
            batched=True,
        ),
    )


EXERCISE = Exercise(
    name="embedding",
    title=Words("Embedding", "埋め込み"),
    task=Words(
        "Give each token id its row of the table: the same as one_hot(ids) @ table.\n"
        "ids: whole numbers (T,), with any batch axes before it; table: (vocab, d).\n"
        "Returns: (T, d). Nothing is multiplied.",
        "各トークン id に表の行を 1 つ与えます。one_hot(ids) @ table と同じです。\n"
        "ids: 整数 (T,)、前にバッチの軸があっても可。table: (語彙, d)。\n"
        "返り値: (T, d)。何も掛けません。",
    ),
    right=right,
    steps={
        "counted": lambda ids: ids,
        "rows": lambda ids, table: table[ids],
        "sized": lambda rows, table: rows,
    },
    probes=probes,
    module=modules.EMBEDDING,
    batched=("ids",),
    variants=(
        Variant(
            "embed-scale",
            {"sized": lambda rows, table: rows * np.sqrt(table.shape[-1])},
            Words(
                "the rows are multiplied by √d, as in the paper of 2017; here they are as they are",
                "2017 年の論文のように √d 倍しています。ここでは掛けません",
            ),
        ),
    ),
    mistakes=(
        Mistake(
            "embed-scale",
            {"sized": lambda rows, table: rows / np.sqrt(table.shape[-1])},
            Words("the rows are divided by √d", "行が √d で割られています"),
            Words(
                "the positions added next would drown out the words.",
                "次に足す位置の値に、トークンの値が埋もれます。",
            ),
            Words(
                "what is one_hot(ids) @ table for one id?",
                "id が 1 つのとき one_hot(ids) @ table は何ですか。",
            ),
            Words("take the row as it is.", "行をそのまま取ってください。"),
            "table[ids]",
        ),
        Mistake(
            "embed-scale",
            {"sized": lambda rows, table: rows * table.shape[-1]},
            Words("the rows are multiplied by d", "行が d 倍されています"),
            Words(
                "the words would drown out the positions added next.",
                "次に足す位置の値が、トークンの値に埋もれます。",
            ),
            Words(
                "what is one_hot(ids) @ table for one id?",
                "id が 1 つのとき one_hot(ids) @ table は何ですか。",
            ),
            Words("take the row as it is.", "行をそのまま取ってください。"),
            "table[ids]",
        ),
        Mistake(
            "embed-offset",
            {"counted": lambda ids: ids - 1},
            Words(
                "the row before is taken: ids start at 0, not at 1",
                "1 つ前の行を取っています。id は 0 から始まります",
            ),
            Words(
                "every word gets the vector of its neighbour in the vocabulary.",
                "どのトークンも、語彙で隣のトークンのベクトルになります。",
            ),
            Words("which row belongs to id 0?", "id 0 の行はどれですか。"),
            Words("use the id itself as the row.", "id をそのまま行番号に使ってください。"),
            "table[ids]",
        ),
        *(
            Mistake(
                "embed-columns",
                {"rows": rows},
                Words(
                    "columns of the table were taken; a word is a row",
                    "表の列を取っています。1 トークンは 1 行です",
                ),
                Words(
                    "a column mixes one number of every word.",
                    "1 列には、全トークンの数が 1 つずつ混ざっています。",
                ),
                Words("which axis of the table is the vocabulary?", "表のどの軸が語彙ですか。"),
                Words("index the first axis.", "最初の軸を添字で選んでください。"),
                "table[ids]",
            )
            for rows in (
                lambda ids, table: np.moveaxis(table[:, ids], 0, -1),
                lambda ids, table: table[:, ids],
            )
        ),
        Mistake(
            "embed-sorted",
            {"counted": lambda ids: np.sort(ids, axis=-1)},
            Words(
                "the tokens were sorted: their order is lost",
                "トークンが並べ替えられ、順序が失われています",
            ),
            Words("a sentence is its order.", "文の意味は順序で決まります。"),
            Words("does row t belong to token t?", "t 行目は t 番目のトークンですか。"),
            Words("keep the ids in their order.", "id の順序を保ってください。"),
            "table[ids]",
        ),
    ),
)
