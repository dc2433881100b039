"""Back-propagation through time, of a recurrent layer."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from clearformer.checking.exercise import Case, Exercise, Mistake, Step
from clearformer.checking.families.through_time import (
    MET,
    PARTNER,
    bent_back,
    slopes,
    state_after,
)
from clearformer.checking.probe import Probe, normal
from clearformer.checking.words import Words


def right(step: Any, X: Any, h0: Any, W_xh: Any, W_hh: Any, b: Any, dH: Any) -> Any:
    """Gradients of W_xh, W_hh and b, given dL/dH of all states."""
    H = states(X, h0, W_xh, W_hh, b)
    before = np.concatenate([h0[None], H[:-1]])
    d_next = np.zeros_like(h0)
    totals = np.zeros_like(W_xh), np.zeros_like(W_hh), np.zeros_like(b)
    for t in reversed(range(len(X))):
        d_sum = step.bent_back(step.joined(dH[t], d_next), H[t])
        parts = np.outer(X[t], d_sum), np.outer(step.partner(before, H, t), d_sum), d_sum
        totals = step.gathered(totals, parts)
        d_next = step.handed_on(d_sum, W_hh)
    return step.finished(totals, len(X))


def states(X: Any, h0: Any, W_xh: Any, W_hh: Any, b: Any) -> Any:
    """h_t = tanh(x_t W_xh + h_{t-1} W_hh + b)."""
    h, found = h0, []
    for x in X:
        h = np.tanh(x @ W_xh + h @ W_hh + b)
        found.append(h)
    return np.stack(found)


def added(totals: Any, parts: Any) -> Any:
    """Every step adds to the same weights."""
    return tuple(total + part for total, part in zip(totals, parts, strict=True))


def _given(seed: int, T: int, d: int, hidden: int) -> dict[str, Any]:
    return {
        "X": normal(seed, T, d),
        "h0": normal(seed + 1, hidden, scale=0.7),
        "W_xh": normal(seed + 2, d, hidden, scale=0.6),
        "W_hh": normal(seed + 3, hidden, hidden, scale=0.6),
        "b": normal(seed + 4, hidden, scale=0.5),
        "dH": normal(seed + 5, T, hidden),
    }


def _last_only(seed: int, T: int, d: int, hidden: int) -> dict[str, Any]:
    given = _given(seed, T, d, hidden)
    given["dH"][:-1] = 0
    return given


def probes() -> Sequence[Probe]:
    """A loss at every step, and one at the last step only, which must reach back to the first."""
    return (
        Probe("3 steps", _given(351, 3, 4, 5)),
        Probe("6 steps", _given(361, 6, 5, 4)),
        Probe("square", _given(371, 4, 4, 4)),
        Probe("loss at the end", _last_only(381, 5, 3, 6)),
    )


def _ratio(cases: Mapping[str, Case]) -> Words | None:
    """How large the gradient of W_hh is beside the right one."""
    case = cases["loss at the end"]
    mine, right = case.mine["dW_hh"], case.right["dW_hh"]
    if mine.shape != right.shape:
        return None
    mine_size, size = np.linalg.norm(mine), np.linalg.norm(right)
    return Words(
        f"with a loss at the last step only, |dW_hh| is {mine_size:.3f}, expected {size:.3f}.",
        f"損失が最後だけのとき |dW_hh| は {mine_size:.3f}、正しくは {size:.3f} です。",
    )


THROUGH = Words(
    "a state acts on the loss directly and through every later state.",
    "状態は、損失に直接効くだけでなく、後のすべての状態を通しても効きます。",
)
WAYS = Words("by how many ways does h_0 reach the loss?", "h_0 が損失に届く道はいくつありますか。")
JOIN = Words(
    "add what comes back from step t + 1 to dH[t].",
    "ステップ t + 1 から戻る勾配を dH[t] に足してください。",
)
SUM = Words("add up over the steps (+=).", "全ステップの分を足してください (+=)。")


def _slip(
    key: str,
    change: Mapping[str, Step],
    en: str,
    ja: str,
    fix: Words,
    code: str,
    ask: Words = WAYS,
) -> Mistake:
    return Mistake(key, change, Words(en, ja), THROUGH, ask, fix, code, _ratio)


JOINED = "d_h = dH[t] + d_next"

EXERCISE = Exercise(
    name="rnn_backward",
    title=Words("Back-propagation through time", "通時的誤差逆伝播 (BPTT)"),
    task=Words(
        "The way back through rnn_forward: h_t = tanh(x_t W_xh + h_{t-1} W_hh + b). Given dH, the "
        "gradient of the loss with each state (what it gets directly), find those of the weights.\n"
        "X: (T, d); h0, b: (hidden,); W_xh: (d, hidden); W_hh: (hidden, hidden); dH: (T, hidden).\n"
        "Returns: (dW_xh, dW_hh, db), each of the shape of what it belongs to, summed over steps.",
        "rnn_forward の逆向き: h_t = tanh(x_t W_xh + h_{t-1} W_hh + b)。dH は各状態が直接受け取る"
        "損失の勾配です。重みの勾配を求めます。\n"
        "X: (T, d)、h0, b: (hidden,)、W_xh: (d, hidden)、W_hh: (hidden, hidden)、"
        "dH: (T, hidden)。返り値: (dW_xh, dW_hh, db)。それぞれ元と同じ形で、全ステップの和です。",
    ),
    right=right,
    returns=("dW_xh", "dW_hh", "db"),
    steps={
        "joined": lambda direct, d_next: direct + d_next,
        "bent_back": bent_back,
        "partner": lambda before, H, t: before[t],
        "gathered": added,
        "handed_on": lambda d_sum, W_hh: W_hh @ d_sum,
        "finished": lambda totals, T: totals,
    },
    probes=probes,
    mistakes=(
        _slip(
            "bptt-no-next",
            {"joined": lambda direct, d_next: direct},
            "what comes back from the next step is not added",
            "次のステップから戻る勾配が足されていません",
            JOIN,
            JOINED,
        ),
        _slip(
            "bptt-no-direct",
            {"joined": lambda direct, d_next: d_next if d_next.any() else direct},
            "only the last step's own gradient is used: dH[t] of the others is left out",
            "最後以外の dH[t] が使われていません",
            JOIN,
            JOINED,
        ),
        _slip(
            "bptt-overwrite",
            {"gathered": lambda totals, parts: parts},
            "the gradient of the last step visited replaces the others (= for +=)",
            "勾配が足されず上書きされています (+= ではなく =)",
            SUM,
            PARTNER,
        ),
        *slopes(_ratio),
        _slip(
            "proj-transposed",
            {"handed_on": lambda d_sum, W_hh: d_sum @ W_hh},
            "W_hh is not turned round on the way back",
            "戻り道で W_hh が転置されていません",
            Words(
                "the gradient goes back through W_hh transposed.",
                "勾配は W_hh の転置を通って戻ります。",
            ),
            "d_next = d_sum @ W_hh.T",
            ask=Words(
                "which axis of W_hh belongs to the state before, which to the sum?",
                "W_hh のどの軸が前の状態、どの軸が和のものですか。",
            ),
        ),
        state_after(lambda before, H, t: H[t], _ratio),
        _slip(
            "bptt-no-h0",
            {"partner": lambda before, H, t: before[t] * (t > 0)},
            "h0 is left out of dW_hh",
            "dW_hh に h0 が入っていません",
            Words("the state before step 0 is h0.", "ステップ 0 の前の状態は h0 です。"),
            "h_before = H[t - 1] if t else h0",
            ask=MET,
        ),
        _slip(
            "bptt-mean",
            {"finished": lambda totals, T: tuple(total / T for total in totals)},
            "averaged over the steps; gradients of shared weights add up",
            "ステップで平均しています。共有された重みの勾配は和です",
            SUM,
            PARTNER,
        ),
    ),
)
