"""One step of an LSTM."""

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import permutations
from typing import Any

import numpy as np

from clearformer.checking.exercise import Case, Exercise, Mistake, Step, Variant
from clearformer.checking.families import modules
from clearformer.checking.families.activating import sigmoid
from clearformer.checking.probe import Probe, normal
from clearformer.checking.words import Words

GATES = "ifgo"


def right(step: Any, x: Any, h: Any, c: Any, W: Any, U: Any, b: Any) -> Any:
    """c' = f c + i g; h' = o tanh(c')."""
    total = step.total(x, h, W, U, b)
    i, f, g, o = step.columns(total)
    i, f, o = (step.gate(each) for each in (i, f, o))
    cell = step.cell(i, step.forget(f), step.candidate(g), c)
    return step.returned(step.hidden(o, step.bent(cell), c), step.kept_cell(cell, c))


def total(x: Any, h: Any, W: Any, U: Any, b: Any) -> Any:
    """What goes into all gates, side by side."""
    return x @ W + h @ U + b


def in_order(order: str, total: Any) -> Any:
    """The parts for i, f, g, o where the columns stand in `order`."""
    parts = dict(zip(order, np.split(total, 4, -1), strict=True))
    return tuple(parts[gate] for gate in GATES)


def _more_forget(total: Any) -> Any:
    i, f, g, o = in_order(GATES, total)
    return i, f + 1, g, o


def _given(seed: int, d: int, n: int, *lead: int) -> dict[str, Any]:
    return {
        "x": normal(seed, *lead, d),
        "h": normal(seed + 1, *lead, n, scale=0.6),
        "c": normal(seed + 2, *lead, n),
        "W": normal(seed + 3, d, 4 * n, scale=0.7),
        "U": normal(seed + 4, n, 4 * n, scale=0.7),
        "b": normal(seed + 5, 4 * n, scale=0.5),
    }


def probes() -> Sequence[Probe]:
    """A full cell, an empty one, one so full that tanh of it is 1, and widths alike."""
    return (
        Probe("4 in, 3 out", _given(401, 4, 3)),
        Probe("3 in, 5 out", _given(411, 3, 5)),
        Probe("widths alike", _given(421, 4, 4)),
        Probe("a full cell", {**_given(431, 5, 3), "c": np.array([5.0, -4.0, 3.0])}),
        Probe("large gates", {**_given(441, 3, 4), "b": normal(446, 16, scale=2.0)}),
    )


def _found_order(cases: Mapping[str, Case]) -> str | None:
    """The order of columns that gives the answer's numbers, if one does."""
    case = cases["4 in, 3 out"]
    arguments = case.probe.arguments
    for order in map("".join, permutations(GATES)):
        version = EXERCISE.version({"columns": partial(in_order, order)})
        h, c = version(**arguments)
        if case.mine["h"].shape != h.shape:
            return None
        if np.allclose(case.mine["h"], h, 1e-4, 1e-5) and np.allclose(
            case.mine["c"], c, 1e-4, 1e-5
        ):
            return order
    return None


def _order(cases: Mapping[str, Case]) -> Mapping[str, Step] | None:
    order = _found_order(cases)
    return {"columns": partial(in_order, order)} if order and order != "ifgo" else None


def _said_order(cases: Mapping[str, Case]) -> Words | None:
    order = _found_order(cases)
    if order is None:
        return None
    read = ", ".join(order)
    return Words(
        f"your numbers come out if the columns are read as {read}; here they are i, f, g, o.",
        f"列を {read} の順に読むとあなたの数になります。ここでは i, f, g, o の順です。",
    )


GATED = Words(
    "c' = f c + i g is a sum, so that what was stored survives and gradients flow.",
    "c' = f c + i g は和なので、記憶が残り、勾配も流れます。",
)
PARTS = Words(
    "what does each of i, f, g, o do to the cell?", "i, f, g, o はそれぞれセルに何をしますか。"
)
FORMULA = Words(
    "i, f, o are sigmoids, g is tanh; c' = f c + i g; h' = o tanh(c').",
    "i, f, o はシグモイド、g は tanh。c' = f c + i g、h' = o tanh(c') です。",
)
CODE = "c = f * c + i * g; h = o * np.tanh(c)"


SPLIT = "i, f, g, o = np.split(x @ W + h @ U + b, 4, axis=-1)"


def _slip(key: str, change: Mapping[str, Step], en: str, ja: str) -> Mistake:
    return Mistake(key, change, Words(en, ja), GATED, PARTS, FORMULA, CODE)


def _total(key: str, step: Step, en: str, ja: str) -> Mistake:
    """Something is missing in what goes into the gates."""
    return Mistake(
        key,
        {"total": step},
        Words(en, ja),
        Words(
            "each gate weighs input and state by itself, from a level of its own.",
            "どのゲートも、入力と状態を自分の重みと自分のバイアスで見ます。",
        ),
        Words(
            "if one number of U or of b changes, which gates change?",
            "U や b の数を 1 つ変えると、どのゲートが変わりますか。",
        ),
        Words(
            "use all of x W + h U + b, and cut it into four.",
            "x W + h U + b の全体を使い、4 つに分けてください。",
        ),
        SPLIT,
    )


EXERCISE = Exercise(
    name="lstm_step",
    title=Words("One step of an LSTM", "LSTM の 1 ステップ"),
    task=Words(
        "Hochreiter and Schmidhuber (1997), with a forget gate. x W + h U + b holds four parts of "
        "width n, in the columns i, f, g, o: i, f, o = sigmoid, g = tanh of theirs; "
        "c' = f c + i g, h' = o tanh(c'). x: (d,), h, c: (n,), W: (d, 4n), U: (n, 4n), b: (4n,), "
        "with any batch axes before x, h and c. Returns: (h', c').",
        "Hochreiter と Schmidhuber (1997)、忘却ゲート付き。x W + h U + b は幅 n の 4 部分 "
        "i, f, g, o です。i, f, o はシグモイド、g は tanh。c' = f c + i g、h' = o tanh(c')。\n"
        "x: (d,)、h, c: (n,)、W: (d, 4n)、U: (n, 4n)、b: (4n,)。"
        "x, h, c の前にバッチの軸があっても可。返り値: (h', c')。",
    ),
    right=right,
    returns=("h", "c"),
    steps={
        "total": total,
        "columns": partial(in_order, GATES),
        "gate": sigmoid,
        "forget": lambda f: f,
        "candidate": np.tanh,
        "cell": lambda i, f, g, c: f * c + i * g,
        "bent": np.tanh,
        "hidden": lambda o, bent, c: o * bent,
        "kept_cell": lambda cell, c: cell,
        "returned": lambda h, c: (h, c),
    },
    probes=probes,
    module=modules.LSTM,
    batched=("x", "h", "c"),
    variants=(
        Variant(
            "lstm-forget-bias-1",
            {"columns": _more_forget},
            Words(
                "1 is added to the forget gate, as TensorFlow's cell did; here b holds all of it",
                "TensorFlow のように忘却ゲートに 1 を足しています。ここでは b にすべて入っています",
            ),
        ),
    ),
    mistakes=(
        Mistake(
            "lstm-gate-order",
            {"columns": partial(in_order, "ifog")},
            Words(
                "the columns of the gates are read in another order",
                "ゲートの列を別の順で読んでいます",
            ),
            Words(
                "weights that were trained elsewhere would not fit.",
                "他で学習した重みと合わなくなります。",
            ),
            Words("in which order do the four parts stand?", "4 つの部分はどの順に並びますか。"),
            Words("read the columns as i, f, g, o.", "列を i, f, g, o の順に読んでください。"),
            SPLIT,
            _said_order,
            fit=_order,
        ),
        _slip(
            "lstm-plus",
            {"cell": lambda i, f, g, c: f * c + i + g},
            "i + g, expected i · g",
            "i + g です。i · g にします",
        ),
        _slip(
            "lstm-no-tanh-c",
            {"bent": lambda cell: cell},
            "tanh of the cell is missing: h' = o c'",
            "セルの tanh がありません: h' = o c'",
        ),
        _slip(
            "lstm-candidate-sigmoid",
            {"candidate": sigmoid},
            "g is a sigmoid; it must be tanh, or nothing below 0 is ever added to the cell",
            "g がシグモイドです。tanh でないと、セルの値を減らせません",
        ),
        _slip(
            "lstm-gates-tanh",
            {"gate": np.tanh},
            "the gates are tanh; they must be sigmoids, between 0 and 1",
            "ゲートが tanh です。0 と 1 の間のシグモイドにします",
        ),
        _total(
            "lstm-bias-copied",
            lambda x, h, W, U, b: x @ W + h @ U + np.tile(b[: len(b) // 4], 4),
            "the bias of the first gate is used for all four",
            "1 つ目のゲートのバイアスを 4 つすべてに使っています",
        ),
        _total(
            "lstm-no-bias",
            lambda x, h, W, U, b: x @ W + h @ U,
            "b is never used",
            "b が使われていません",
        ),
        _slip(
            "lstm-no-forget",
            {"forget": np.ones_like},
            "the forget gate is never used: c' = c + i g",
            "忘却ゲートが使われていません: c' = c + i g",
        ),
        _slip(
            "lstm-forget-inverted",
            {"forget": lambda f: 1 - f},
            "the forget gate is turned round: f close to 1 must keep",
            "忘却ゲートが逆です。f が 1 に近いとき残します",
        ),
        _slip(
            "lstm-old-cell-out",
            {"hidden": lambda o, bent, c: o * np.tanh(c)},
            "the old cell goes out, not the new one",
            "新しいセルではなく、古いセルを出力しています",
        ),
        _slip(
            "lstm-cell-not-kept",
            {"kept_cell": lambda cell, c: c},
            "the old cell is returned: nothing is remembered",
            "古いセルを返しており、何も記憶されません",
        ),
        Mistake(
            "lstm-returns-swapped",
            {"returned": lambda h, c: (c, h)},
            Words(
                "returned in the other order: (c', h'), expected (h', c')",
                "返す順が逆です: (c', h') ではなく (h', c') にします",
            ),
            Words(
                "the caller would take the cell for the state, and the state for the cell.",
                "呼び出し側がセルと状態を取り違えます。",
            ),
            Words("which of the two comes first?", "2 つのうち先に返すのはどちらですか。"),
            Words("return the state, then the cell.", "状態、セルの順に返してください。"),
            "return h, c",
        ),
        _total(
            "lstm-no-state",
            lambda x, h, W, U, b: x @ W + b,
            "h and U are never used",
            "h と U が使われていません",
        ),
    ),
)
