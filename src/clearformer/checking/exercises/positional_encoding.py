"""Sinusoidal positions."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from clearformer.checking.exercise import Case, Exercise, Mistake, Step, Variant
from clearformer.checking.probe import Probe
from clearformer.checking.words import Words


def right(step: Any, n_positions: Any, d_model: Any) -> Any:
    """sin and cos of position / 10000^(2i/d), side by side."""
    positions = step.positions(n_positions)[:, None]
    pairs = np.arange(0, d_model, 2)
    angles = step.angles(positions, step.base(d_model) ** step.exponent(pairs, d_model))
    return step.placed(
        np.sin(angles), np.cos(step.of_cosine(angles, positions, d_model)), n_positions
    )


def interleaved(sine: Any, cosine: Any, n_positions: Any) -> Any:
    """sin in the even columns, cos in the odd ones."""
    return np.stack([sine, cosine], -1).reshape(n_positions, -1)


def _own_exponent(angles: Any, positions: Any, d_model: Any) -> Any:
    return positions / 10000.0 ** ((2 * np.arange(1, d_model, 2)) / d_model / 2)


def _doubled_own(angles: Any, positions: Any, d_model: Any) -> Any:
    return positions / 10000.0 ** ((2 * np.arange(1, d_model, 2)) / d_model)


def probes() -> Sequence[Probe]:
    """Even widths of at least 6; at width 2 most slips are not seen."""
    return tuple(
        Probe(f"{n} positions, width {d}", {"n_positions": n, "d_model": d})
        for n, d in ((5, 8), (4, 6), (9, 12), (6, 6), (16, 10))
    )


def _base(cases: Mapping[str, Case]) -> float | None:
    """Read off column 2, whose angle at position 1 is base^(-2/d)."""
    mine = cases["5 positions, width 8"].mine["output"]
    if mine.shape != (5, 8) or not 0 < mine[1, 2] < 1:
        return None
    return float(np.arcsin(mine[1, 2]) ** -4)


def _other_base(cases: Mapping[str, Case]) -> Mapping[str, Step] | None:
    base = _base(cases)
    if base is None or not 1.5 < base < 1e9 or abs(base - 10000) < 1:
        return None
    if abs(base - 100) < 1e-3:  # that of a halved exponent, the likelier slip
        return None
    rounded = float(f"{base:.4g}")
    return {"base": partial(_constant, rounded if abs(rounded / base - 1) < 1e-6 else base)}


def _constant(base: float, d_model: Any) -> float:
    return base


def _said_base(cases: Mapping[str, Case]) -> Words | None:
    base = _base(cases)
    text = f"{base:,.5g}" if base else ""
    return (
        Words(f"read off column 2: the base is {text}.", f"列 2 から読み取ると底は {text} です。")
        if base
        else None
    )


def _pair(cases: Mapping[str, Case]) -> Words | None:
    """sin² + cos² of one pair, which is 1 where both have one angle."""
    mine = cases["5 positions, width 8"].mine["output"]
    if mine.shape != (5, 8):
        return None
    value = f"{mine[1, 2] ** 2 + mine[1, 3] ** 2:.3f}"
    if value == "1.000":
        return None
    return Words(
        f"columns 2 and 3 at position 1: sin² + cos² is {value}, not 1.",
        f"位置 1 の列 2 と 3 で sin² + cos² が 1 ではなく {value} です。",
    )


FAR = Words(
    "frequencies fall from 1 to nearly 1/10000: near and far places need different ones.",
    "周波数は 1 から約 1/10000 まで順に下がり、近い位置と遠い位置を別々に表します。",
)
FREQUENCY = Words(
    "what is the angle of columns 2 and 3 at position 1?",
    "位置 1 の列 2 と 3 の角度はいくつですか。",
)
BY_PAIR = Words(
    "angle = position / 10000^(2i/d) for pair i; with i = 0, 2, 4 … the 2 is already in it.",
    "組 i の角度は 位置 / 10000^(2i/d) です。i = 0, 2, 4 … と数えるなら 2 は済んでいます。",
)
CODE = "angles = positions / 10000 ** (np.arange(0, d_model, 2) / d_model)"

PLACES = "positions = np.arange(n_positions)[:, None]"


def _slip(key: str, change: Mapping[str, Step], en: str, ja: str, **more: Any) -> Mistake:
    texts = {"why": FAR, "ask": FREQUENCY, "fix": BY_PAIR, "code": CODE, **more}
    return Mistake(key, change, Words(en, ja), **texts)


EXERCISE = Exercise(
    name="positional_encoding",
    title=Words("Sinusoidal positions", "正弦波の位置エンコーディング"),
    task=Words(
        "A row of waves for each position (Vaswani et al., 2017, section 3.5):\n"
        "column 2i is sin(position / 10000^(2i/d)), column 2i+1 the cos of the same angle. "
        "Positions start at 0. Returns: (n_positions, d_model), d_model even.",
        "位置ごとに波の値の行を作ります (Vaswani ほか 2017、3.5 節):\n"
        "列 2i は sin(位置 / 10000^(2i/d))、列 2i+1 は同じ角度の cos です。"
        "位置は 0 から。返り値: (n_positions, d_model)、d_model は偶数。",
    ),
    right=right,
    steps={
        "positions": np.arange,
        "base": lambda d_model: 10000.0,
        "exponent": lambda pairs, d_model: pairs / d_model,
        "angles": lambda positions, powers: positions / powers,
        "of_cosine": lambda angles, positions, d_model: angles,
        "placed": interleaved,
    },
    probes=probes,
    variants=(
        Variant(
            "pe-halves",
            {"placed": lambda sine, cosine, n_positions: np.concatenate([sine, cosine], -1)},
            Words(
                "all sines, then all cosines: the same numbers in halves instead of side by side",
                "sin を前半、cos を後半に並べています。数は同じで、交互でないだけです",
            ),
        ),
        Variant(
            "pe-tensor2tensor",
            {
                "exponent": lambda pairs, d_model: pairs / (d_model - 2),
                "placed": lambda sine, cosine, n_positions: np.concatenate([sine, cosine], -1),
            },
            Words(
                "in halves, and the last frequency is exactly 1/10000, as in Tensor2Tensor's code",
                "前半が sin、後半が cos で、最後の周波数が 1/10000 です (Tensor2Tensor の流儀)",
            ),
        ),
    ),
    mistakes=(
        _slip(
            "pe-exponent-doubled",
            {"exponent": lambda pairs, d_model: 2 * pairs / d_model},
            "the exponent is doubled: i already steps by 2",
            "指数が 2 倍です。i はすでに 2 ずつ増えています",
        ),
        _slip(
            "pe-exponent-halved",
            {"exponent": lambda pairs, d_model: pairs / 2 / d_model},
            "the exponent is halved: the 2 of 2i/d is missing",
            "指数が半分です。2i/d の 2 がありません",
        ),
        _slip(
            "pe-cos-own-exponent",
            {"of_cosine": _own_exponent},
            "cos has a frequency of its own; sin and cos of a pair share one",
            "cos の周波数が別です。組の sin と cos は同じ周波数を使います",
            evidence=_pair,
        ),
        _slip(
            "pe-cos-own-exponent",
            {"of_cosine": _doubled_own, "exponent": lambda pairs, d_model: 2 * pairs / d_model},
            "every column has its own frequency, 2·column/d; sin and cos of a pair share one",
            "列ごとに周波数 2·列/d が違います。組の sin と cos は同じ周波数を使います",
            evidence=_pair,
        ),
        _slip(
            "pe-base",
            {"base": lambda d_model: 1000.0},
            "another base than 10000",
            "底が 10000 ではありません",
            fit=_other_base,
            evidence=_said_base,
        ),
        _slip(
            "pe-precedence",
            {"exponent": lambda pairs, d_model: pairs / 2 // (d_model // 2) * 1.0},
            "the exponent was rounded down to a whole number: all angles are the position",
            "指数が整数に切り捨てられ、すべての角度が位置そのものです",
        ),
        _slip(
            "pe-times",
            {"angles": lambda positions, powers: positions * powers},
            "multiplied by 10000^(2i/d) instead of divided",
            "10000^(2i/d) で割らずに掛けています",
        ),
        _slip(
            "pe-starts-at-1",
            {"positions": lambda n: np.arange(1, n + 1)},
            "positions start at 1; the first is 0: its row is 0, 1, 0, 1, …",
            "位置が 1 から始まっています。最初は 0 で、行は 0, 1, 0, 1, … です",
            why=Words(
                "every position would be taken for the next.",
                "どの位置も 1 つ後ろの位置に見えます。",
            ),
            ask=Words(
                "what are sin and cos of the first position?",
                "最初の位置の sin と cos は何ですか。",
            ),
            fix=Words("count positions from 0.", "位置を 0 から数えてください。"),
            code=PLACES,
        ),
        _slip(
            "pe-index-not-slice",
            {"positions": lambda n: np.full(n, n)},
            "every row is the same: one position was picked instead of all",
            "すべての行が同じです。全部ではなく 1 つの位置を選んでいます",
            why=Words(
                "tokens could not be told apart by place.", "トークンの場所が区別できません。"
            ),
            ask=Words("do two of your rows differ?", "違う行はありますか。"),
            fix=Words(
                "slice [:T] instead of indexing [T].", "[T] ではなく [:T] を取ってください。"
            ),
            code=PLACES,
        ),
        _slip(
            "pe-index-not-slice",
            {"positions": lambda n: np.full(n, n - 1)},
            "every row is the last position: one was picked instead of all",
            "すべての行が最後の位置です。全部ではなく 1 つを選んでいます",
            why=Words(
                "tokens could not be told apart by place.", "トークンの場所が区別できません。"
            ),
            ask=Words("do two of your rows differ?", "違う行はありますか。"),
            fix=Words("take one row for each position.", "位置ごとに 1 行を作ってください。"),
            code=PLACES,
        ),
        _slip(
            "pe-sin-cos-swapped",
            {"placed": lambda sine, cosine, n_positions: interleaved(cosine, sine, n_positions)},
            "cos stands in the even columns and sin in the odd ones",
            "偶数列が cos、奇数列が sin になっています",
            why=Words(
                "weights trained with the other order would not fit.",
                "逆の順で学習した重みとは合いません。",
            ),
            ask=Words("what is the row of position 0?", "位置 0 の行は何ですか。"),
            fix=Words(
                "sin in columns 0, 2, …; cos in 1, 3, ….",
                "列 0, 2, … に sin、1, 3, … に cos を置いてください。",
            ),
            code="table[:, 0::2], table[:, 1::2] = np.sin(angles), np.cos(angles)",
        ),
        _slip(
            "pe-degrees",
            {"angles": lambda positions, powers: np.deg2rad(positions / powers)},
            "angles taken as degrees; they are radians",
            "角度を度として扱っています。ラジアンです",
        ),
    ),
    ties=(
        frozenset({"pe-base", "pe-exponent-halved"}),
        frozenset({"pe-base", "pe-exponent-doubled"}),
    ),
)
