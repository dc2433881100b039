"""Where an answer and what is right are different, in a few words."""

from collections.abc import Mapping, Sequence

import numpy as np

from clearformer.checking.agreement import Tolerance, agree, different
from clearformer.checking.exercise import Case, Exercise
from clearformer.checking.probe import Probe
from clearformer.checking.record import Record
from clearformer.checking.words import Words

NO_RESULT = Words("no result", "結果が得られません")


def headline(
    exercise: Exercise,
    probes: Sequence[Probe],
    record: Record,
    cases: Mapping[str, Case],
    tolerance: Tolerance,
) -> Words:
    """Behind the verdict "wrong": on how many inputs, and whether shape, places or values."""
    main = [each for each in probes if each.role == "main"]
    called = [each for each in main if not record.outcomes[each.name].skipped]
    there = [cases[each.name] for each in called if each.name in cases]
    wrong = [case for case in there if not agree(case.mine, case.right, tolerance)]
    lost = len(called) - len(there)
    if not wrong and not lost:
        return Words("the values are right", "値は合っています")
    what = _what(wrong) if wrong else NO_RESULT
    if wrong and lost:
        return Words(
            f"{what.en} on {len(wrong)}, {NO_RESULT.en} on {lost} of {len(called)} inputs",
            f"{len(called)} 個の入力のうち {len(wrong)} 個で{what.ja}。{lost} 個では{NO_RESULT.ja}",
        )
    count = len(wrong) + lost
    return Words(
        f"{what.en} on {count} of {len(called)} inputs",
        f"{counted(count, len(called))}{what.ja}",
    )


def counted(some: int, inputs: int) -> str:
    """On how many of the inputs, as Japanese begins a sentence."""
    return f"{inputs} 個の入力" + ("すべてで" if some == inputs else f"のうち {some} 個で")


def smallest(
    probes: Sequence[Probe], cases: Mapping[str, Case], tolerance: Tolerance
) -> Case | None:
    """The failing case whose arguments hold the fewest numbers."""
    main = [cases[each.name] for each in probes if each.role == "main" and each.name in cases]
    wrong = [case for case in main if not agree(case.mine, case.right, tolerance)]
    return min(wrong, key=_size, default=None)


def largest(case: Case, tolerance: Tolerance) -> Words | None:
    """The place of the largest difference, with both values."""
    for name, right in case.right.items():
        mine = case.mine.get(name)
        if mine is None or mine.shape != right.shape or mine.dtype.kind not in "fiub":
            continue
        wrong = different(mine, right, tolerance)
        if not wrong.any():
            continue
        with np.errstate(invalid="ignore"):
            gap = np.where(wrong, np.abs(mine.astype(float) - right), -1.0)
        place = np.unravel_index(int(np.nanargmax(np.where(np.isnan(gap), np.inf, gap))), gap.shape)
        at = ", ".join(str(int(index)) for index in place)
        label = f"{name}[{at}]" if at else name
        came, expected = _told_apart(mine[place], right[place])
        return Words(
            f"{label} is {came}, expected {expected}.",
            f"{label} は {came}、正しくは {expected} です。",
        )
    return None


def _told_apart(mine: float, right: float) -> tuple[str, str]:
    """Both numbers with as many digits as show that they differ."""
    for digits in range(4, 17):
        came, expected = f"{mine:.{digits}g}", f"{right:.{digits}g}"
        if came != expected:
            break
    return came, expected


def _what(wrong: Sequence[Case]) -> Words:
    shapes = [
        (name, case.mine[name].shape, right.shape)
        for case in wrong
        for name, right in case.right.items()
        if name in case.mine and case.mine[name].shape != right.shape
    ]
    if shapes:
        _, mine, right = shapes[0]
        return Words(f"shape {mine}, expected {right},", f"形が {mine} です (正しくは {right})")
    if all(_is_shuffled(case) for case in wrong):
        return Words(
            "right numbers in wrong places", "数の場所が違います (数そのものは合っています)"
        )
    return Words("values differ", "値が違います")


def _is_shuffled(case: Case) -> bool:
    """Whether the same numbers are there, in another order."""
    return all(
        right.size > 1
        and name in case.mine
        and case.mine[name].shape == right.shape
        and np.allclose(np.sort(case.mine[name], None), np.sort(right, None), 1e-6, 1e-8)
        for name, right in case.right.items()
    )


def _size(case: Case) -> int:
    return sum(
        np.size(value)
        for value in case.probe.arguments.values()
        if not isinstance(value, (dict, list))
    )
