"""A recurrent layer: one state goes along the sequence."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from clearformer.checking.exercise import Case, Clue, Exercise, Mistake, Step
from clearformer.checking.families import modules
from clearformer.checking.families.activating import relu, sigmoid
from clearformer.checking.probe import Probe, normal
from clearformer.checking.words import Words


def right(step: Any, X: Any, h0: Any, W_xh: Any, W_hh: Any, b: Any) -> Any:
    """h_t = tanh(x_t W_xh + h_{t-1} W_hh + b), all of them."""
    h, states = h0, []
    for x in step.ordered(X):
        before = step.carried(h, h0)
        h = step.bent(step.from_input(x, W_xh) + step.from_state(before, W_hh) + step.shift(b))
        states.append(step.kept(h, before))
    return step.returned(np.stack(states), X)


def _given(seed: int, T: int, d: int, hidden: int) -> dict[str, Any]:
    return {
        "X": normal(seed, T, d),
        "h0": normal(seed + 1, hidden, scale=0.7),
        "W_xh": normal(seed + 2, d, hidden, scale=0.6),
        "W_hh": normal(seed + 3, hidden, hidden, scale=0.6),
        "b": normal(seed + 4, hidden, scale=0.5),
    }


def probes() -> Sequence[Probe]:
    """States that are not 0 at the start; one with all widths alike."""
    return (
        Probe("3 steps", _given(301, 3, 4, 5)),
        Probe("6 steps", _given(311, 6, 5, 4)),
        Probe("square", _given(321, 4, 4, 4)),
        Probe("from 0", {**_given(331, 5, 3, 6), "h0": np.zeros(6)}),
        Probe("4 steps", _given(341, 4, 7, 3)),
    )


def _memory(cases: Mapping[str, Case]) -> Words | None:
    """Which of the states is the first to be wrong."""
    case = cases["6 steps"]
    mine, right = case.mine["output"], case.right["output"]
    if mine.shape != right.shape:
        return None
    wrong = ~np.isclose(mine, right, 1e-4, 1e-6).all(-1)
    if not wrong.any() or wrong[0]:
        return None
    first = int(wrong.argmax())
    so_far = "状態 0" if first == 1 else f"状態 0 から {first - 1} "
    return Words(
        f"states 0 to {first - 1} are right; from state {first} on they are not.",
        f"{so_far}までは合っていて、状態 {first} から違います。",
    )


CARRY = Words("the state is the only memory that an RNN has.", "状態が RNN のただ 1 つの記憶です。")
WHICH = Words("which state goes into step t?", "ステップ t に入る状態はどれですか。")
NEXT = Words(
    "give each step the state that the last one made.",
    "直前のステップが作った状態を次に渡してください。",
)
CODE = "h = np.tanh(x @ W_xh + h @ W_hh + b)"
FORMULA = Words(
    "write h_t = tanh(x_t W_xh + h_{t-1} W_hh + b).",
    "h_t = tanh(x_t W_xh + h_{t-1} W_hh + b) と書いてください。",
)
BOUND = Words("each part has its own work in the sum.", "和のどの部分にも役目があります。")
PARTS = Words("which parts go into tanh?", "tanh の中に何が入りますか。")


def _slip(key: str, change: Mapping[str, Step], en: str, ja: str, **more: Any) -> Mistake:
    texts = {"why": BOUND, "ask": PARTS, "fix": FORMULA, "evidence": _memory, "code": CODE, **more}
    return Mistake(key, change, Words(en, ja), **texts)


EXERCISE = Exercise(
    name="rnn_forward",
    title=Words("Recurrent layer", "再帰層 (RNN)"),
    task=Words(
        "One state goes along the sequence (Elman, 1990), starting from h0:\n"
        "h_t = tanh(x_t W_xh + h_{t-1} W_hh + b). X: (T, d); h0, b: (hidden,); "
        "W_xh: (d, hidden); W_hh: (hidden, hidden). Returns: all states after h0, (T, hidden).",
        "1 つの状態が系列を進みます (Elman 1990): h_t = tanh(x_t W_xh + h_{t-1} W_hh + b)。"
        "h0 から始めます。X: (T, d)、h0, b: (hidden,)、W_xh: (d, hidden)、"
        "W_hh: (hidden, hidden)。返り値: h0 より後のすべての状態 (T, hidden)。",
    ),
    right=right,
    steps={
        "ordered": lambda X: X,
        "carried": lambda h, h0: h,
        "from_input": lambda x, W_xh: x @ W_xh,
        "from_state": lambda h, W_hh: h @ W_hh,
        "shift": lambda b: b,
        "bent": np.tanh,
        "kept": lambda h, before: h,
        "returned": lambda states, X: states,
    },
    probes=probes,
    module=modules.RNN,
    clues=(Clue("first-wrong-state", _memory),),
    mistakes=(
        _slip(
            "rnn-state-not-carried",
            {"carried": lambda h, h0: h0},
            "h0 is used at every step: the state is not carried on",
            "毎回 h0 を使っており、状態が引き継がれていません",
            why=CARRY,
            ask=WHICH,
            fix=NEXT,
        ),
        _slip(
            "rnn-no-h0",
            {"carried": lambda h, h0: np.zeros_like(h) if h is h0 else h},
            "h0 is never used: the sequence starts from 0",
            "h0 が使われず、0 から始まっています",
            why=CARRY,
            ask=WHICH,
            fix=Words("start from h0.", "h0 から始めてください。"),
            code="h = h0",
        ),
        _slip(
            "rnn-state-before",
            {"kept": lambda h, before: before},
            "the state before each step is returned, not the one after it",
            "ステップの後ではなく、前の状態を返しています",
            why=CARRY,
            ask=WHICH,
            fix=Words("keep the state after the step.", "ステップ後の状態を残してください。"),
            code="h = np.tanh(x @ W_xh + h @ W_hh + b); states.append(h)",
        ),
        _slip(
            "rnn-no-tanh",
            {"bent": lambda total: total},
            "tanh is missing",
            "tanh がありません",
            why=Words("states could grow without bound.", "状態がどこまでも大きくなります。"),
        ),
        _slip(
            "rnn-sigmoid",
            {"bent": sigmoid},
            "a sigmoid in place of tanh",
            "tanh ではなくシグモイドです",
        ),
        _slip(
            "rnn-relu",
            {"bent": relu},
            "ReLU in place of tanh",
            "tanh ではなく ReLU です",
        ),
        _slip("rnn-no-bias", {"shift": lambda b: 0 * b}, "b is never used", "b が使われていません"),
        _slip(
            "rnn-no-input",
            {"from_input": lambda x, W_xh: 0 * (x @ W_xh)},
            "the input is never used",
            "入力が使われていません",
        ),
        _slip(
            "rnn-no-state",
            {"from_state": lambda h, W_hh: 0 * (h @ W_hh)},
            "the state before is never used",
            "直前の状態が使われていません",
            why=CARRY,
            ask=WHICH,
            fix=NEXT,
        ),
        _slip(
            "proj-transposed",
            {"from_state": lambda h, W_hh: h @ W_hh.T},
            "W_hh used the other way round: h @ W_hh.T",
            "W_hh の向きが逆です: h @ W_hh.T",
            ask=Words(
                "which axis of W_hh belongs to the old state?", "W_hh のどの軸が前の状態ですか。"
            ),
            evidence=None,
        ),
        _slip(
            "rnn-reversed",
            {"ordered": lambda X: X[::-1]},
            "the sequence is read from its end",
            "系列を後ろから読んでいます",
            why=Words(
                "a language model must read from the past to the future.",
                "言語モデルは過去から未来へ読みます。",
            ),
            ask=Words("which token is read first?", "最初に読むトークンはどれですか。"),
            fix=Words("read x_0 first.", "x_0 から読んでください。"),
            code="for x in X:",
            evidence=None,
        ),
        _slip(
            "rnn-last-only",
            {"returned": lambda states, X: states[-1]},
            "only the last state is returned; all are asked for",
            "最後の状態だけを返しています。すべて返します",
            why=Words("the model predicts from every state.", "モデルは各状態から予測します。"),
            ask=Words(
                "how many states belong to T tokens?", "T 個のトークンには状態がいくつありますか。"
            ),
            fix=Words("collect the state of each step.", "各ステップの状態を集めてください。"),
            code="return np.stack(states)",
            evidence=None,
        ),
    ),
)
