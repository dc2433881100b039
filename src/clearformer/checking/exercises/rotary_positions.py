"""Rotary positions (RoPE)."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from clearformer.checking.exercise import Case, Exercise, Mistake, Step, Variant
from clearformer.checking.probe import Probe, normal
from clearformer.checking.words import Words


def right(step: Any, x: Any, positions: Any) -> Any:
    """Columns 2i and 2i + 1 are turned by position / 10000^(2i/d)."""
    half = x.shape[-1] // 2
    frequencies = step.base() ** -step.exponent(np.arange(half), x.shape[-1])
    angles = step.counted(positions)[:, None] * frequencies
    return step.turned(x, np.cos(angles), step.direction(np.sin(angles)))


def neighbours(x: Any, cosine: Any, sine: Any) -> Any:
    """Column 2i with column 2i + 1."""
    a, b = x[..., 0::2], x[..., 1::2]
    return side_by_side(a * cosine - b * sine, a * sine + b * cosine)


def side_by_side(a: Any, b: Any) -> Any:
    """a in the even columns, b in the odd ones."""
    return np.stack([a, b], -1).reshape(*a.shape[:-1], -1)


def halves(x: Any, cosine: Any, sine: Any) -> Any:
    """Column i with column i + d/2."""
    a, b = np.split(x, 2, -1)
    return np.concatenate([a * cosine - b * sine, a * sine + b * cosine], -1)


def mismatched(x: Any, cosine: Any, sine: Any) -> Any:
    """Frequencies repeated for neighbours, but halves turned."""
    a, b = np.split(x, 2, -1)
    cosine, sine = np.repeat(cosine, 2, -1), np.repeat(sine, 2, -1)
    return x * cosine + np.concatenate([-b, a], -1) * sine


def no_minus(x: Any, cosine: Any, sine: Any) -> Any:
    """Both products added."""
    a, b = x[..., 0::2], x[..., 1::2]
    return side_by_side(a * cosine + b * sine, a * sine + b * cosine)


def first_only(x: Any, cosine: Any, sine: Any) -> Any:
    """The second of each pair left as it was."""
    a, b = x[..., 0::2], x[..., 1::2]
    return side_by_side(a * cosine - b * sine, b)


def added(x: Any, cosine: Any, sine: Any) -> Any:
    """Waves added as sinusoidal positions are."""
    return x + side_by_side(sine, cosine)


def probes() -> Sequence[Probe]:
    """Positions from 0, later ones (as with a cache), large ones; widths 6, 8 and 12."""
    return (
        Probe("5 tokens", {"x": normal(101, 5, 8), "positions": np.arange(5)}),
        Probe("later positions", {"x": normal(102, 4, 6), "positions": np.array([3, 4, 5, 6])}),
        Probe("far apart", {"x": normal(103, 3, 12), "positions": np.array([0, 17, 40])}),
        Probe("as many as the width", {"x": normal(104, 6, 6), "positions": np.arange(6)}),
        Probe("one of a cache", {"x": normal(105, 1, 8), "positions": np.array([9])}),
    )


def _norms(cases: Mapping[str, Case]) -> Words | None:
    """Turning keeps lengths."""
    case = cases["5 tokens"]
    mine = case.mine["output"]
    if mine.shape != (5, 8):
        return None
    before = np.linalg.norm(case.probe.arguments["x"][2])
    after = np.linalg.norm(mine[2])
    if np.isclose(before, after, rtol=1e-4):
        return None
    return Words(
        f"turning keeps the length of a row; yours goes from {before:.3f} to {after:.3f}.",
        f"回転では行の長さが変わりません。あなたの結果では {before:.3f} から {after:.3f} です。",
    )


def _constant(base: float) -> float:
    return base


def _other_base(cases: Mapping[str, Case]) -> Mapping[str, Step] | None:
    """Read off the angle by which columns 2 and 3 of token 1 were turned."""
    case = cases["5 tokens"]
    mine, x = case.mine["output"], case.probe.arguments["x"]
    if mine.shape != x.shape:
        return None
    angle = np.arctan2(mine[1, 3], mine[1, 2]) - np.arctan2(x[1, 3], x[1, 2])
    angle = (angle + np.pi) % (2 * np.pi) - np.pi
    return {"base": partial(_constant, float(angle**-4.0))} if 0 < angle < 0.9 else None


RELATIVE = Words(
    "q·k must depend only on how far apart two tokens are, and lengths must be kept.",
    "q·k は 2 トークンの距離だけに依存し、長さは保たれなければなりません。",
)
ASK = Words(
    "which two columns are turned together, and by which angle?",
    "どの 2 列を組にして、どの角度だけ回しますか。",
)
FIX = Words(
    "turn column 2i with column 2i + 1, both by position / 10000^(2i/d).",
    "列 2i と列 2i + 1 を組にし、位置 / 10000^(2i/d) だけ回してください。",
)
CODE = "out[..., 0::2], out[..., 1::2] = a * cos - b * sin, a * sin + b * cos"


ANGLE = "angles = positions[:, None] / 10000 ** (np.arange(0, d, 2) / d)"


def _turn(key: str, step: Step, en: str, ja: str) -> Mistake:
    """It is no turn, or of other columns."""
    change = {"turned": step}
    return Mistake(key, change, Words(en, ja), RELATIVE, ASK, FIX, CODE, _norms)


def _angle(key: str, change: Mapping[str, Step], en: str, ja: str, **more: Any) -> Mistake:
    """The angle is another."""
    return Mistake(key, change, Words(en, ja), RELATIVE, ASK, FIX, ANGLE, **more)


EXERCISE = Exercise(
    name="rotary_positions",
    title=Words("Rotary positions", "回転位置エンコーディング (RoPE)"),
    task=Words(
        "Turn each query or key by its position (Su et al., 2021): columns 2i and 2i + 1 are "
        "a point (a, b) that becomes (a cos - b sin, a sin + b cos) of position / 10000^(2i/d), "
        "i = 0 … d/2 - 1. x: (T, d), any batch axes before; positions: whole numbers (T,).\n"
        "Returns: the shape of x.",
        "クエリやキーを位置に応じて回します (Su ほか 2021)。列 2i と 2i + 1 を点 (a, b) とし、"
        "角度 位置 / 10000^(2i/d) で (a cos - b sin, a sin + b cos) にします。i = 0 … d/2 - 1。\n"
        "x: (T, d)、前にバッチの軸があっても可。positions: 整数 (T,)。返り値: x と同じ形。",
    ),
    right=right,
    steps={
        "base": lambda: 10000.0,
        "exponent": lambda pairs, d: 2 * pairs / d,
        "counted": lambda positions: positions,
        "direction": lambda sine: sine,
        "turned": neighbours,
    },
    probes=probes,
    batched=("x",),
    variants=(
        Variant(
            "rope-halves",
            {"turned": halves},
            Words(
                "columns i and i + d/2 are turned, as in Llama's code; here 2i and 2i + 1 are",
                "Llama のコードの流儀 (列 i と i + d/2 が組) です。ここでは 2i と 2i + 1 が組です",
            ),
        ),
    ),
    mistakes=(
        _turn(
            "rope-pairing",
            mismatched,
            "frequencies are laid out for neighbours, but halves are turned",
            "周波数は隣どうしの組の並びなのに、前半と後半を組にしています",
        ),
        _turn(
            "rope-sign",
            no_minus,
            "the minus is missing: a cos + b sin is not a turn",
            "マイナスがありません。a cos + b sin は回転ではありません",
        ),
        Mistake(
            "rope-backwards",
            {"direction": lambda sine: -sine},
            Words(
                "turned the other way round (the sign of sin)", "逆向きに回しています (sin の符号)"
            ),
            Words(
                "still only the distance counts, but weights trained elsewhere would not fit.",
                "距離だけに依存する点は同じですが、他で学習した重みと合わなくなります。",
            ),
            Words(
                "where does (1, 0) go when it is turned by a small angle?",
                "(1, 0) を小さい角度だけ回すと、どこへ行きますか。",
            ),
            FIX,
            CODE,
        ),
        _angle(
            "rope-exponent-halved",
            {"exponent": lambda pairs, d: pairs / d},
            "the exponent is i/d, expected 2i/d",
            "指数が i/d です。2i/d にします",
        ),
        _angle(
            "rope-exponent-doubled",
            {"exponent": lambda pairs, d: 4 * pairs / d},
            "the exponent is 4i/d, expected 2i/d",
            "指数が 4i/d です。2i/d にします",
        ),
        _angle(
            "rope-base",
            {"base": lambda: 1000.0},
            "another base than 10000",
            "底が 10000 ではありません",
            fit=_other_base,
        ),
        _angle(
            "rope-starts-at-1",
            {"counted": lambda positions: positions + 1},
            "the first position is turned, too: positions start at 0",
            "最初の位置まで回しています。位置は 0 から始まります",
        ),
        _angle(
            "cache-position",
            {"counted": lambda positions: np.arange(len(positions))},
            "positions counted from 0 again; the given ones are not used",
            "位置を 0 から数え直しており、渡された位置を使っていません",
        ),
        _turn(
            "rope-one-of-two",
            first_only,
            "only the first of each pair is turned",
            "組の 1 つ目の列だけを回しています",
        ),
        _turn(
            "rope-added",
            added,
            "waves were added; rotary positions turn",
            "波を足しています。足すのではなく回します",
        ),
    ),
    ties=(
        frozenset({"rope-base", "rope-exponent-halved"}),
        frozenset({"rope-base", "rope-exponent-doubled"}),
    ),
)
