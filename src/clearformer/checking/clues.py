"""When no known mistake fits: what can be said of the place, without a name."""

from collections.abc import Mapping, Sequence

import numpy as np

from clearformer.checking.agreement import Tolerance, agree, different, same
from clearformer.checking.differences import largest, smallest
from clearformer.checking.exercise import Case, Exercise
from clearformer.checking.probe import Probe
from clearformer.checking.running.probes import CHANGED
from clearformer.checking.verdict import Finding
from clearformer.checking.which_inputs import which_inputs
from clearformer.checking.words import Words

UNKNOWN = Words(
    "not a mistake that is known here ({singles} single, {pairs} double changes tried)",
    "登録済みの間違いのどれとも一致しませんでした (1 か所 {singles} 通り、2 か所 {pairs} 通り)",
)


def clues(
    exercise: Exercise,
    probes: Sequence[Probe],
    cases: Mapping[str, Case],
    tolerance: Tolerance,
    looked_at: tuple[int, int],
) -> list[Finding]:
    """The exercise's own observations, then those that hold for any arrays; at most four."""
    said = [_own(look, cases) for look in (each.look for each in exercise.clues)]
    said += [which_inputs(exercise, probes, cases, tolerance)]
    said += [_unused(exercise, probes, cases, tolerance)]
    case = smallest(probes, cases, tolerance)
    if case:
        said += [
            _axes(case, tolerance),
            _factor(case),
            _transposed(case),
            _rows(case, tolerance),
            largest(case, tolerance),
        ]
    unknown = UNKNOWN.about(singles=looked_at[0], pairs=looked_at[1])
    return [Finding(unknown), *(Finding(words) for words in said if words)][:5]


def _own(look: object, cases: Mapping[str, Case]) -> Words | None:
    try:
        return look(cases) if callable(look) else None
    except (KeyError, IndexError, ValueError):
        return None


def _unused(
    exercise: Exercise, probes: Sequence[Probe], cases: Mapping[str, Case], tolerance: Tolerance
) -> Words | None:
    """An argument that changes what is right and leaves the answer as it was."""
    base = next((each.name for each in probes if each.role == "main"), "")
    main = cases.get(base)
    if main is None:
        return None
    unused = [
        each.name
        for each in exercise.parameters
        if (changed := cases.get(CHANGED + each.name))
        and agree(changed.mine, main.mine, tolerance)
        and not agree(changed.right, main.right, tolerance)
    ]
    if not unused:
        return None
    names = ", ".join(unused)
    return Words(
        f"with another value for {names} your output stays as it was.",
        f"{names} に別の値を入れても、出力が変わりません。",
    )


def _pair(case: Case) -> tuple[np.ndarray, np.ndarray] | None:
    """The first array that differs, mine and right, where their shapes are the same."""
    for name, right in case.right.items():
        mine = case.mine.get(name)
        if mine is None or mine.dtype.kind not in "fiub" or np.array_equal(mine, right):
            continue
        return mine.astype(float), np.asarray(right, float)
    return None


def _axes(case: Case, tolerance: Tolerance) -> Words | None:
    """The right numbers with an axis of length 1 too many or too few."""
    for name, right in case.right.items():
        mine = case.mine.get(name)
        if mine is None or mine.shape == right.shape or mine.size != right.size:
            continue
        if mine.squeeze().shape == right.squeeze().shape and same(
            mine.reshape(right.shape), right, tolerance
        ):
            return Words(
                "the numbers are right; only an axis of length 1 is too many or too few: "
                f"{mine.shape}, expected {right.shape}.",
                f"数は合っていますが、長さ 1 の軸に過不足があります: {mine.shape}、"
                f"正しくは {right.shape}。",
            )
    return None


def _factor(case: Case) -> Words | None:
    """Too large by a factor: one for all, or one for each row."""
    pair = _pair(case)
    if pair is None or pair[0].shape != pair[1].shape or pair[0].size < 2:
        return None
    mine, right = pair
    solid = np.abs(right) > 1e-9
    if not solid.any() or not np.isfinite(mine).all() or np.abs(mine[~solid]).max(initial=0) > 1e-6:
        return None
    ratio = np.divide(mine, right, where=solid, out=np.full(mine.shape, np.nan))
    factors = ratio[solid]
    if np.allclose(factors, 0) or np.allclose(factors, 1, 5e-3):
        return None  # nothing left, or too near to see in three digits
    if np.allclose(factors, factors[0], 1e-5):
        value = f"{factors[0]:.4g}"
        return Words(
            f"every number is {value} times what it should be.",
            f"どの数も正しい値の {value} 倍です。",
        )
    if mine.ndim < 2:
        return None
    rows = ratio[solid.any(-1)]
    lows, highs = np.nanmin(rows, -1), np.nanmax(rows, -1)
    if not np.allclose(lows, highs, 1e-5):
        return None
    shown = ", ".join(f"{value:.3g}" for value in lows[:5])
    return Words(
        f"it is off by a factor that depends on the row: {shown}.",
        f"行ごとに違う倍率だけずれています: {shown}。",
    )


def _transposed(case: Case) -> Words | None:
    pair = _pair(case)
    if pair is None or pair[0].ndim < 2:
        return None
    mine, right = pair
    turned = mine.swapaxes(-1, -2)
    if turned.shape == right.shape and np.allclose(turned, right, 1e-5, 1e-7):
        return Words(
            "it is the right table with rows and columns exchanged.",
            "行と列を入れ替えると正しい表になります。",
        )
    return None


def _rows(case: Case, tolerance: Tolerance) -> Words | None:
    """Which rows are right and which are not, where it is some of them."""
    pair = _pair(case)
    if pair is None or pair[0].shape != pair[1].shape or pair[0].ndim != 2:
        return None
    wrong = np.atleast_1d(different(*pair, tolerance).any(-1))
    if wrong.all() or not wrong.any():
        return None
    which = ", ".join(str(row) for row in np.flatnonzero(wrong)[:6])
    return Words(
        f"of {len(wrong)} rows only {which} differ (counted from 0).",
        f"{len(wrong)} 行のうち違うのは {which} 行目だけです (0 から数えて)。",
    )
