"""A batch of windows of a text, and what comes after each of their tokens."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from clearformer.checking.exercise import Case, Exercise, Mistake
from clearformer.checking.probe import Probe, whole
from clearformer.checking.words import Words


def right(step: Any, data: Any, starts: Any, block_size: Any) -> Any:
    """x: the block_size ids from each start; y: those one further."""
    starts, n = step.begins(starts, block_size), step.length(block_size)
    x = step.inputs(data, starts, n)
    return step.both(x, step.targets(data, starts, n, x))


def cut(shift: int, data: Any, starts: Any, n: int, *_: Any) -> Any:
    """Slices that begin `shift` after each start."""
    return np.stack([data[start + shift : start + shift + n] for start in starts])


def gathered(shift: int, data: Any, starts: Any, n: int, *_: Any) -> Any:
    """The same by indices: before the beginning comes the end."""
    return data[starts[:, None] + np.arange(n) + shift]


def probes() -> Sequence[Probe]:
    """Windows that overlap, the first and the last possible one; as many rows as tokens once."""
    return (
        _of("4 windows of 3", whole(1, 50, 20), [3, 7, 5, 1], 3),
        _of("3 windows of 5", whole(2, 9, 30), [0, 24, 11], 5),
        _of("as many windows as tokens", whole(3, 50, 25), [4, 2, 9, 13], 4),
        _of("small starts", whole(4, 99, 40), [1, 3, 2, 5, 4], 6),
        _of("numbers in order", np.arange(10, 40), [2, 20, 8], 4),
        _of(
            "one window",
            whole(5, 9, 12),
            [6],
            3,
            role="stress",
            says=Words("one window", "1 個の窓"),
        ),
    )


def _of(name: str, data: Any, starts: Sequence[int], block_size: int, **more: Any) -> Probe:
    return Probe(name, {"data": data, "starts": np.array(starts), "block_size": block_size}, **more)


def _row(cases: Mapping[str, Case]) -> Words | None:
    mine = cases["numbers in order"].mine
    x, y = (", ".join(str(int(each)) for each in np.ravel(mine[name][0])) for name in "xy")
    return Words(
        f"with data 10, 11, 12, … and start 2 you give x[0] = {x} and y[0] = {y}.",
        f"data が 10, 11, 12, … で開始位置 2 のとき x[0] = {x}、y[0] = {y} です。",
    )


def _ended(end: Any, data: Any, starts: Any, n: int, x: Any) -> Any:
    return np.concatenate([x[:, 1:], end(x)], 1)


NEXT = Words(
    "y[b, t] must be the token that follows x[b, t] in the text.",
    "y[b, t] は、文章で x[b, t] の次に来るトークンでなければなりません。",
)
WHICH = Words(
    "which token follows the first one of your first row, and is it y[0, 0]?",
    "最初の行で、先頭のトークンの次に来るのは何ですか。それは y[0, 0] と同じですか。",
)
ONE_ON = Words(
    "take the targets from one place further on, equally many.",
    "正解は 1 つ先の位置から、同じ個数だけ取ってください。",
)
LINE = "y = np.stack([data[s + 1 : s + 1 + block_size] for s in starts])"


BEGINS = Words(
    "which token is x[0, 0], and which is x[1, 0]?",
    "x[0, 0] はどのトークンですか。x[1, 0] は。",
)
FROM_START = Words(
    "row b is data from starts[b] on, block_size ids of it.",
    "行 b は data の starts[b] から block_size 個です。",
)
PLACES = Words(
    "windows from anywhere in the text make every batch different.",
    "文章のあちこちから窓を取ると、バッチごとに内容が変わります。",
)
INPUTS = "x = np.stack([data[s : s + block_size] for s in starts])"


def _targets(key: str, step: Any, found: Words) -> Mistake:
    return Mistake(key, {"targets": step}, found, NEXT, WHICH, ONE_ON, LINE, _row)


def _windows(key: str, change: Mapping[str, Any], found: Words, why: Words) -> Mistake:
    return Mistake(key, change, found, why, BEGINS, FROM_START, INPUTS, _row)


EXERCISE = Exercise(
    name="get_batch",
    title=Words("A batch with shifted targets", "正解を 1 つずらしたバッチ"),
    task=Words(
        "Cut windows out of a text to learn from: x[b] are the block_size ids that begin at "
        "starts[b], and y[b] those that begin one place later: y[b, t] follows x[b, t].\n"
        "data: (n,), ids. starts: (B,), from 0 to n − block_size − 1. block_size: T.\n"
        "Returns: (x, y), both of shape (B, T).",
        "学習用に文章から窓を切り出します。x[b] は starts[b] から始まる block_size 個の id、"
        "y[b] は 1 つ先から始まる同じ個数で、y[b, t] は x[b, t] の次のトークンです。\n"
        "data: (n,)、id。starts: (B,)、0 から n − block_size − 1。block_size: T。\n"
        "返り値: (x, y)、どちらも形は (B, T)。",
    ),
    right=right,
    steps={
        "begins": lambda starts, block_size: starts,
        "length": lambda block_size: block_size,
        "inputs": partial(cut, 0),
        "targets": partial(cut, 1),
        "both": lambda x, y: (x, y),
    },
    probes=probes,
    mistakes=(
        _targets(
            "targets-not-shifted",
            partial(cut, 0),
            Words("y is x: the targets are not shifted", "y が x と同じで、ずれていません"),
        ),
        _targets(
            "shift-2",
            partial(cut, 2),
            Words("the targets are shifted by 2, not by 1", "正解が 1 ではなく 2 ずれています"),
        ),
        *(
            _targets(
                "shift-back",
                partial(way, -1),
                Words(
                    "the targets are shifted back: what came before, not what comes next",
                    "正解が逆にずれています (次ではなく前のトークン)",
                ),
            )
            for way in (cut, gathered)
        ),
        _targets(
            "targets-plus-1",
            lambda data, starts, n, x: x + 1,
            Words(
                "1 is added to the ids themselves; their places are not shifted",
                "位置ではなく、id そのものに 1 を足しています",
            ),
        ),
        _targets(
            "target-only-last",
            lambda data, starts, n, x: data[starts + n],
            Words(
                "one target for each window; every place in it should have one",
                "窓ごとに正解が 1 つだけです (各位置に 1 つずつ必要です)",
            ),
        ),
        _targets(
            "targets-wrap",
            partial(_ended, lambda x: x[:, :1]),
            Words(
                "the last target is the window's own first token (np.roll)",
                "最後の正解が窓の先頭のトークンになっています (np.roll)",
            ),
        ),
        _targets(
            "targets-zero-end",
            partial(_ended, lambda x: np.zeros_like(x[:, :1])),
            Words(
                "the last target of each window is 0, not the token that follows",
                "各窓の最後の正解が、次のトークンではなく 0 です",
            ),
        ),
        Mistake(
            "xy-swapped",
            {"both": lambda x, y: (y, x)},
            Words("x and y are exchanged", "x と y が逆です"),
            NEXT,
            WHICH,
            Words(
                "return what is given first, then the targets.", "入力、正解の順に返してください。"
            ),
            "return x, y",
            _row,
        ),
        _windows(
            "window-one-short",
            {"length": lambda block_size: block_size - 1},
            Words(
                "windows are one token short: block_size + 1 ids are needed for both",
                "窓が 1 つ短くなっています (両方で block_size + 1 個の id が要ります)",
            ),
            Words(
                "a model made for block_size tokens is never trained at its last place.",
                "block_size トークン用のモデルが、最後の位置で学習されません。",
            ),
        ),
        _windows(
            "batch-transposed",
            {"both": lambda x, y: (x.T, y.T)},
            Words("rows and columns are exchanged: (T, B)", "行と列が逆です: (T, B)"),
            Words(
                "a row would then hold one token from each window.",
                "1 行に、別々の窓のトークンが並んでしまいます。",
            ),
        ),
        _windows(
            "starts-times-block",
            {"begins": lambda starts, block_size: starts * block_size},
            Words(
                "starts are multiplied by block_size; they are places in the text already",
                "starts に block_size を掛けています (starts はすでに文章の中の位置です)",
            ),
            PLACES,
        ),
        _windows(
            "starts-ignored",
            {"begins": lambda starts, block_size: starts[0] + block_size * np.arange(len(starts))},
            Words(
                "rows follow each other from the first start; the other starts are not used",
                "最初の開始位置から続けて切っており、他の starts が使われていません",
            ),
            PLACES,
        ),
    ),
    returns=("x", "y"),
)
