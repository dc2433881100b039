"""Where a number of a recurrent layer comes from: one step, with the numbers of this sentence."""

from collections.abc import Iterator

import numpy as np

from clearformer.explanation.lines import JOINT, Line, shortened
from clearformer.explanation.page import Page
from clearformer.explanation.tables import number
from clearformer.explanation.trace import Stage


def worked_cell(page: Page, stage: Stage) -> Iterator[Line]:
    """One number of the memory: what is kept of it, and what comes in."""
    forget, let_in, new = (_now(page, name) for name in ("forget_gate", "input_gate", "candidate"))
    before, now = _before(page, "cell"), _now(page, "cell")
    text = f"{_times(forget, before)} + {_times(let_in, new)}"
    yield from _told(page, "cell", text, forget * before + let_in * new, now)


def worked_hidden(page: Page, stage: Stage) -> Iterator[Line]:
    """One number of the state, where it is made of gates."""
    if page.block("cell") in page.trace:
        show, cell = _now(page, "output_gate"), _now(page, "cell")
        text = f"{number(show)}{JOINT}×{JOINT}tanh({number(cell)})"
        yield from _told(page, "hidden", text, show * float(np.tanh(cell)), _now(page, "hidden"))
    elif page.block("update_gate") in page.trace:
        keep, new = _now(page, "update_gate"), _now(page, "candidate")
        before, now = _before(page, "hidden"), _now(page, "hidden")
        text = f"{_times(1 - keep, new)} + {_times(keep, before)}"
        yield from _told(page, "hidden", text, (1 - keep) * new + keep * before, now)


def _told(page: Page, name: str, text: str, found: float, now: float) -> Iterator[Line]:
    if np.isclose(found, now, rtol=1e-3, atol=1e-3):  # else it was edited, and is not this sum
        cell = f"{name}[{shortened(page.labels[-1], 10)}, 0]"
        yield from page.prose(f"For example {cell} = {text} = {number(now)}", "faint")


def _times(a: float, b: float) -> str:
    return f"{number(a)}{JOINT}×{JOINT}{number(b)}"


def _now(page: Page, name: str) -> float:
    return float(page.of_block(name)[-1, 0])


def _before(page: Page, name: str) -> float:
    """At the token before the last; 0 before the first."""
    values = page.of_block(name)
    return float(values[-2, 0]) if len(values) > 1 else 0.0
