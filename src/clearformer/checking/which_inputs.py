"""When no known mistake fits: on which of the inputs an answer differs, where it is on some."""

from collections.abc import Mapping, Sequence
from typing import Any

from clearformer.checking.agreement import Tolerance, agree
from clearformer.checking.exercise import Case, Exercise
from clearformer.checking.probe import Probe
from clearformer.checking.words import Words

MOST = 3
"""Names of inputs that are listed."""


def which_inputs(
    exercise: Exercise, probes: Sequence[Probe], cases: Mapping[str, Case], tolerance: Tolerance
) -> Words | None:
    """By the one value that they alone have, such as masked=False, else by their names."""
    main = [cases[each.name] for each in probes if each.role == "main" and each.name in cases]
    wrong = [each for each in main if not agree(each.mine, each.right, tolerance)]
    right = [each for each in main if agree(each.mine, each.right, tolerance)]
    if not wrong or not right:
        return None
    value = _of_their_own(exercise, wrong, right)
    if value:
        return Words(
            f"right on the others; differs on those with {value}.",
            f"違うのは {value} の入力だけで、ほかは合っています。",
        )
    if len(wrong) > MOST:
        return None
    names = ", ".join(f"“{each.probe.name}”" for each in wrong)
    return Words(
        f"right on the others; differs on {names}.",
        f"違うのは {names} だけで、ほかは合っています。",
    )


def _of_their_own(exercise: Exercise, wrong: Sequence[Case], right: Sequence[Case]) -> str | None:
    """What all that is wrong and nothing that is right is given for an argument with a default."""
    for each in exercise.parameters:
        if each.default is each.empty:
            continue
        theirs = [_given(case, each.name, each.default) for case in wrong]
        others = [_given(case, each.name, each.default) for case in right]
        if None not in theirs and len(set(theirs)) == 1 and theirs[0] not in others:
            return f"{each.name}={theirs[0]}"
    return None


def _given(case: Case, name: str, default: Any) -> str | None:
    value = case.probe.arguments.get(name, default)
    return repr(value) if isinstance(value, bool | int | float | str) else None
