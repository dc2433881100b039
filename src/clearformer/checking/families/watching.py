"""Where to look when no known mistake fits an attention: does the future leak, do rows add up?"""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from clearformer.checking.exercise import Case, Clue
from clearformer.checking.families.softmaxing import sums
from clearformer.checking.probe import Probe
from clearformer.checking.words import Words

OTHER_LAST = "another last token"


def another_last(probe: Probe, name: str = "X") -> Probe:
    """The same with other numbers in the last row of an argument."""
    table = probe.arguments[name].copy()
    table[-1] = 1.5 - table[-1]
    return replace(probe, name=OTHER_LAST, arguments={**probe.arguments, name: table}, role="clue")


def leak(first: str) -> Clue:
    """Whether rows before the last one change with the last token; `first` is the probe before."""

    def look(cases: Mapping[str, Case]) -> Words | None:
        one, other = cases[first], cases[OTHER_LAST]
        name = next(iter(one.right))
        before, after = one.mine[name][..., :-1, :], other.mine[name][..., :-1, :]
        if before.shape != after.shape or np.allclose(before, after, 1e-4, 1e-5):
            return None
        return Words(
            "rows before the last one change with the last token: the future leaks.",
            "最後のトークンを変えると、それより前の行も変わります: 未来が漏れています。",
        )

    return Clue("future-leaks", look)


def _uneven(cases: Mapping[str, Case]) -> Words | None:
    shown = next((case for name, case in cases.items() if name.startswith("weights")), None)
    if shown is None or np.allclose(shown.mine["output"].sum(-1), 1, 1e-4):
        return None
    return sums(cases)


ROW_SUMS = Clue("row-sums", _uneven)
"""Weights that do not add up to 1 in each row."""
