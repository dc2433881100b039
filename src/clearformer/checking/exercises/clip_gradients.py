"""Clipping gradients by the norm of all of them together."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from clearformer.checking.exercise import Case, Exercise, Mistake, Variant
from clearformer.checking.probe import Probe, normal
from clearformer.checking.words import Words


def right(step: Any, grads: Any, max_norm: Any) -> Any:
    """All by max_norm / norm where the norm of all numbers is above max_norm."""
    total = step.norm(grads)
    return [step.clipped(g, step.factor(total, max_norm), max_norm, step) for g in grads]


def norm(grads: Any) -> Any:
    """The root of the sum of all squares."""
    return np.sqrt(sum((g**2).sum() for g in grads))


def factor(total: Any, max_norm: Any) -> Any:
    """Never above 1."""
    return max_norm / total if total > max_norm else 1.0


def _each(g: Any, _: Any, max_norm: Any, step: Any) -> Any:
    return g * step.factor(step.norm([g]), max_norm)


LARGE_AND_SMALL = "norms 5 and 0.1, limit 1"


def probes() -> Sequence[Probe]:
    """A large and a small array together; a sum above the limit of parts below it; none above."""
    return (
        _of(LARGE_AND_SMALL, [(5.0, (3, 4)), (0.1, (5,))], 1.0),
        _of("each below, together above", [(0.8, (4,)), (0.9, (3, 5)), (0.7, (2, 3, 4))], 1.0),
        _of("below the limit", [(0.3, (4, 3)), (0.2, (5,))], 2.0),
        _of("limit 2", [(3.0, (6,)), (4.0, (4, 3))], 2.0),
        _of("small limit", [(0.003, (5,)), (0.004, (3, 4))], 0.001),
        _of("one array", [(7.0, (4, 5))], 0.5),
        Probe(
            "gradients of 0",
            {"grads": [np.zeros((3, 4)), np.zeros(5)], "max_norm": 1.0},
            role="stress",
            says=Words("gradients of 0", "すべて 0 の勾配"),
        ),
    )


def _of(name: str, parts: Sequence[tuple[float, tuple[int, ...]]], max_norm: float) -> Probe:
    grads = [normal(seed, *shape) for seed, (_, shape) in enumerate(parts, 31)]
    sized = [g * (size / norm([g])) for g, (size, _) in zip(grads, parts, strict=True)]
    return Probe(name, {"grads": sized, "max_norm": max_norm})


def _norms(cases: Mapping[str, Case]) -> Words | None:
    mine, right = cases[LARGE_AND_SMALL].mine, cases[LARGE_AND_SMALL].right
    if all(np.allclose(mine[name], right[name], 1e-3) for name in right):
        return _stretched(cases)
    sizes = [f"{np.linalg.norm(each):.3g}" for each in mine.values()]
    return Words(
        f"two arrays of norms 5 and 0.1 come out with {' and '.join(sizes)}; expected 1 and 0.02.",
        f"ノルム 5 と 0.1 の 2 つが {' と '.join(sizes)} になっています (正しくは 1 と 0.02)。",
    )


def _stretched(cases: Mapping[str, Case]) -> Words | None:
    case = cases["below the limit"]
    mine, right = (norm(list(each.values())) for each in (case.mine, case.right))
    if np.isclose(mine, right, 1e-3):
        return None
    return Words(
        f"gradients of norm {right:.3g} with max_norm = 2 come out with {mine:.3g}.",
        f"ノルム {right:.3g} の勾配が max_norm = 2 で {mine:.3g} になっています。",
    )


DIRECTION = Words(
    "clipping must shorten the step and leave its direction as it is.",
    "クリッピングは歩幅だけを縮め、向きは変えてはいけません。",
)
RATIO = Words(
    "one array was 50 times larger than the other; is it still, after clipping?",
    "一方は他方の 50 倍でした。クリッピング後も 50 倍ですか。",
)
ONE_NORM = Words(
    "take one norm over all numbers of all arrays and one factor for all.",
    "全配列の全要素で 1 つのノルムを取り、同じ倍率をすべてに掛けてください。",
)
LINE = "norm = np.sqrt(sum((g**2).sum() for g in grads))"
UNCHANGED = Words(
    "gradients below the limit must stay as they are.", "上限以下の勾配は変えてはいけません。"
)
BELOW = Words(
    "what does your code do to a gradient of norm 0.1?", "ノルム 0.1 の勾配はどうなりますか。"
)
ONLY_ABOVE = Words(
    "multiply only where the norm is above max_norm.",
    "ノルムが max_norm を超えたときだけ掛けてください。",
)
BY_RATIO = Words(
    "where the norm is above max_norm, multiply by max_norm / norm.",
    "ノルムが max_norm を超えたら、max_norm / norm を掛けてください。",
)
SCALE = "scale = min(1, max_norm / norm)"
BY_HAND = Words(
    "what is the norm of the arrays [3] and [4] together?",
    "2 つの配列 [3] と [4] を合わせたノルムはいくつですか。",
)
ABOVE = Words(
    "with max_norm = 2, what norm is left of one of 10?",
    "max_norm = 2 のとき、ノルム 10 の勾配のノルムはいくつになりますか。",
)


def _norm(key: str, step: Any, found: Words) -> Mistake:
    return Mistake(key, {"norm": step}, found, DIRECTION, BY_HAND, ONE_NORM, LINE, _norms)


def _below(key: str, step: Any, found: Words) -> Mistake:
    return Mistake(key, {"factor": step}, found, UNCHANGED, BELOW, ONLY_ABOVE, SCALE, _norms)


def _above(key: str, step: Any, found: Words) -> Mistake:
    return Mistake(key, {"factor": step}, found, DIRECTION, ABOVE, BY_RATIO, SCALE, _norms)


def _clipped(key: str, step: Any, found: Words) -> Mistake:
    return Mistake(key, {"clipped": step}, found, DIRECTION, RATIO, ONE_NORM, LINE, _norms)


EXERCISE = Exercise(
    name="clip_gradients",
    title=Words("Gradient clipping", "勾配クリッピング"),
    task=Words(
        "Keep a step from being too long without changing its direction: with norm the root of "
        "the sum of the squares of all numbers in all arrays, multiply every array by "
        "max_norm / norm if norm > max_norm, and change nothing otherwise.\n"
        "grads: a list of arrays of any shapes. max_norm: one number above 0.\n"
        "Returns: the list of arrays; writing into those given is allowed.",
        "向きを変えずに、歩幅が大きくなりすぎないようにします。norm は全配列の全要素の "
        "2 乗和の平方根です。norm > max_norm なら全配列に max_norm / norm を掛け、"
        "そうでなければ何も変えません。\n"
        "grads: いろいろな形の配列のリスト。max_norm: 正の数。\n"
        "返り値: 配列のリスト。渡された配列を書き換えても構いません。",
    ),
    right=right,
    steps={
        "norm": norm,
        "factor": factor,
        "clipped": lambda g, factor, max_norm, step: g * factor,
    },
    probes=probes,
    mistakes=(
        _clipped(
            "clip-per-tensor",
            _each,
            Words(
                "each array is clipped by its own norm, not all by one",
                "全体ではなく、配列ごとのノルムで切り詰めています",
            ),
        ),
        _clipped(
            "clip-value",
            lambda g, factor, max_norm, step: np.clip(g, -max_norm, max_norm),
            Words(
                "each number is cut to ±max_norm; the norm is not looked at",
                "ノルムではなく、要素ごとに ±max_norm に切り詰めています",
            ),
        ),
        _below(
            "clip-always",
            lambda total, max_norm: max_norm / total,
            Words(
                "gradients below the limit are stretched up to it",
                "上限より小さい勾配まで max_norm に引き伸ばしています",
            ),
        ),
        _above(
            "clip-never",
            lambda total, max_norm: 1.0,
            Words("nothing is clipped", "何も切り詰めていません"),
        ),
        _above(
            "clip-to-1",
            lambda total, max_norm: 1 / total if total > max_norm else 1.0,
            Words(
                "divided by the norm without max_norm: the result always has norm 1",
                "max_norm を掛けずにノルムで割っており、結果のノルムが常に 1 です",
            ),
        ),
        _above(
            "clip-upside-down",
            lambda total, max_norm: total / max_norm if total > max_norm else 1.0,
            Words(
                "the factor is upside down: large gradients become larger",
                "倍率が逆数で、大きい勾配がさらに大きくなります",
            ),
        ),
        _below(
            "clip-below",
            lambda total, max_norm: max_norm / total if total < max_norm else 1.0,
            Words(
                "the comparison is turned round: small gradients are stretched, large ones stay",
                "比較が逆で、小さい勾配が伸び、大きい勾配がそのままです",
            ),
        ),
        _norm(
            "clip-no-root",
            lambda grads: norm(grads) ** 2,
            Words(
                "the root is missing: the sum of squares is compared with max_norm",
                "平方根がなく、2 乗和を max_norm と比べています",
            ),
        ),
        _norm(
            "clip-sum-of-norms",
            lambda grads: sum(norm([g]) for g in grads),
            Words(
                "the norms of the arrays are added; their squares must be",
                "配列ごとのノルムをそのまま足しています (足すのは 2 乗です)",
            ),
        ),
        _norm(
            "clip-l1",
            lambda grads: sum(np.abs(g).sum() for g in grads),
            Words(
                "the sum of absolute values is taken, not the root of the sum of squares",
                "2 乗和の平方根ではなく、絶対値の和を使っています",
            ),
        ),
        _norm(
            "clip-max",
            lambda grads: max(np.abs(g).max() for g in grads),
            Words(
                "the largest number is taken as the norm", "最大の要素をノルムとして使っています"
            ),
        ),
        _norm(
            "clip-largest",
            lambda grads: max(norm([g]) for g in grads),
            Words(
                "the largest norm of one array is taken, not that of all together",
                "全体ではなく、最も大きい配列のノルムを使っています",
            ),
        ),
        _norm(
            "clip-mean",
            lambda grads: norm(grads) / np.sqrt(sum(g.size for g in grads)),
            Words(
                "the root of the mean square is taken, not of the sum",
                "2 乗の和ではなく、平均の平方根を使っています",
            ),
        ),
    ),
    variants=(
        Variant(
            "clip-eps",
            {"factor": lambda total, max_norm: min(1.0, max_norm / (total + 1e-6))},
            Words(
                "1e-6 is added to the norm, as PyTorch does; it shows only where all is tiny.",
                "PyTorch と同じくノルムに 1e-6 を足しています (とても小さいときだけ違います)。",
            ),
        ),
    ),
    returns=("grads",),
    may_change=("grads",),
)
