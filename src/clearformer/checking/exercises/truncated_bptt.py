"""Back-propagation through time in chunks: the state goes on, the gradient does not."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from clearformer.checking.exercise import Case, Exercise, Mistake, Step
from clearformer.checking.families.through_time import bent_back, slopes, state_after
from clearformer.checking.probe import Probe, normal
from clearformer.checking.words import Words


def right(step: Any, X: Any, h0: Any, W_xh: Any, W_hh: Any, chunk: Any) -> Any:
    """Gradients of the sum of all states, none going back over the beginning of a chunk."""
    states = [h0]
    for t, x in enumerate(X):
        before = step.carried(states[-1], h0) if t and t % chunk == 0 else states[-1]
        states.append(np.tanh(x @ W_xh + before @ W_hh))
    parts, coming = [(np.zeros_like(W_xh), np.zeros_like(W_hh))], np.zeros_like(h0)
    for t in reversed(range(len(X))):
        d_sum = step.bent_back(1 + coming, states[t + 1])
        begins = t % chunk == 0
        before = step.carried(states[t], h0) if t and begins else states[t]
        parts.append((np.outer(X[t], d_sum), np.outer(step.partner(before, states[t + 1]), d_sum)))
        coming = step.handed_over(d_sum @ W_hh.T, begins)
    return step.collected(parts, chunk, len(X))


def collected(parts: Any, chunk: Any, T: Any) -> Any:
    """Summed over all steps of all chunks."""
    return tuple(sum(each) for each in zip(*parts, strict=True))


def _last_chunk(parts: Any, chunk: Any, T: Any) -> Any:
    return collected(parts[: (T - 1) % chunk + 2], chunk, T)


def _averaged(parts: Any, chunk: Any, T: Any) -> Any:
    chunks = -(-T // chunk)
    return tuple(each / chunks for each in collected(parts, chunk, T))


def probes() -> Sequence[Probe]:
    """Two chunks, three, one that is shorter; one chunk for all."""
    return (
        _of("2 chunks of 3", 1, 6, 4, 5, 3),
        _of("3 chunks of 2", 7, 6, 5, 3, 2),
        _of("4, 4 and 1", 13, 9, 3, 4, 4),
        _of("one chunk", 19, 4, 3, 5, 4),
        _of("square", 25, 6, 4, 4, 3),
    )


def _of(name: str, seed: int, T: int, d: int, hidden: int, chunk: int) -> Probe:
    return Probe(
        name,
        {
            "X": normal(seed, T, d),
            "h0": normal(seed + 1, hidden, scale=0.7),
            "W_xh": normal(seed + 2, d, hidden, scale=0.4),
            "W_hh": normal(seed + 3, hidden, hidden, scale=0.5),
            "chunk": chunk,
        },
    )


def _norms(cases: Mapping[str, Case]) -> Words | None:
    one, many = cases["one chunk"], cases["2 chunks of 3"]
    if not np.allclose(one.mine["dW_hh"], one.right["dW_hh"], 1e-4, 1e-6):
        return None
    mine, right = (np.linalg.norm(each["dW_hh"]) for each in (many.mine, many.right))
    return Words(
        f"with one chunk it is right; with two |dW_hh| is {mine:.3f}, expected {right:.3f}.",
        f"区間が 1 つなら正しく、2 つだと |dW_hh| が {mine:.3f} です (正しくは {right:.3f})。",
    )


CUT = Words(
    "cutting the gradient keeps memory and time of a chunk the same, however long the text.",
    "勾配を切ると、文章がどれだけ長くても、1 区間の手間とメモリは一定です。",
)
WHAT = Words(
    "at the beginning of a chunk: what passes forwards, and what passes backwards?",
    "区間の初めで、前向きに渡るものと、逆向きに渡るものは何ですか。",
)
DETACH = Words(
    "carry the state's numbers on, but stop the gradient there (detach).",
    "状態の値は引き継ぎ、勾配はそこで止めてください (detach)。",
)
LINE = "h = h.detach()   # or: d_h = 0 where a chunk begins"
SUM = Words("add the gradients of all chunks.", "全区間の勾配を足してください。")


def _mistake(
    key: str, change: Mapping[str, Step], found: Words, fix: Words = DETACH, code: str = LINE
) -> Mistake:
    return Mistake(key, change, found, CUT, WHAT, fix, code, _norms)


EXERCISE = Exercise(
    name="truncated_bptt",
    title=Words("Truncated back-propagation", "打ち切り型 BPTT"),
    task=Words(
        "A long text is learned from in chunks of `chunk` steps (the last may be shorter).\n"
        "h_t = tanh(x_t W_xh + h_{t−1} W_hh) runs on from chunk to chunk, from h_0 = h0; the loss "
        "is the sum of all numbers of all h_t. Find its gradients, summed over the chunks; none "
        "goes back past the beginning of a chunk: the state there counts as a constant.\n"
        "X: (T, d). h0: (n,). W_xh: (d, n). W_hh: (n, n). Returns: (dW_xh, dW_hh).",
        "長い文章を chunk ステップずつの区間で学習します (最後は短くても可)。\n"
        "h_t = tanh(x_t W_xh + h_{t−1} W_hh) は h0 から始まり、区間をまたいで続きます。"
        "損失は全 h_t の全要素の和です。全区間で足した勾配を求めます。"
        "勾配は区間の初めを越えて戻らず、そこの状態は定数とみなします。\n"
        "X: (T, d)。h0: (n,)。W_xh: (d, n)。W_hh: (n, n)。返り値: (dW_xh, dW_hh)。",
    ),
    right=right,
    steps={
        "carried": lambda state, h0: state,
        "bent_back": bent_back,
        "partner": lambda before, after: before,
        "handed_over": lambda d_h, begins: np.zeros_like(d_h) if begins else d_h,
        "collected": collected,
    },
    probes=probes,
    mistakes=(
        _mistake(
            "rnn-no-detach",
            {"handed_over": lambda d_h, begins: d_h},
            Words(
                "the gradient goes back through all chunks: the state is not detached",
                "勾配が全区間を通って戻っています (状態が detach されていません)",
            ),
        ),
        _mistake(
            "rnn-state-not-carried",
            {"carried": lambda state, h0: h0},
            Words(
                "each chunk begins with h0 again: the state is not carried on",
                "各区間が h0 から始まり、状態が引き継がれていません",
            ),
        ),
        _mistake(
            "rnn-state-not-carried",
            {"carried": lambda state, h0: np.zeros_like(h0)},
            Words(
                "each chunk begins with a state of 0: it is not carried on",
                "各区間が状態 0 から始まり、引き継がれていません",
            ),
        ),
        _mistake(
            "bptt-no-next",
            {"handed_over": lambda d_h, begins: np.zeros_like(d_h)},
            Words(
                "the gradient is cut at every step, not only where a chunk begins",
                "区間の初めだけでなく、毎ステップで勾配が切れています",
            ),
        ),
        _mistake(
            "bptt-last-chunk",
            {"collected": _last_chunk},
            Words(
                "only the last chunk's gradients are returned",
                "最後の区間の勾配だけを返しています",
            ),
            SUM,
            "dW_hh += …   # in every chunk",
        ),
        _mistake(
            "bptt-mean",
            {"collected": _averaged},
            Words("the chunks' gradients are averaged, not added", "区間の勾配を平均しています"),
            SUM,
            "dW_hh += …   # in every chunk",
        ),
        *slopes(_norms),
        state_after(lambda before, after: after, _norms),
    ),
    returns=("dW_xh", "dW_hh"),
)
