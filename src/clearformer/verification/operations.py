"""Rows of the operations: each in all its cases, on a side against the reference."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from clearformer.models.scaled_dot_product import attention
from clearformer.verification.case import Case
from clearformer.verification.cases import CASES
from clearformer.verification.comparison import Comparison
from clearformer.verification.differences import against_differences
from clearformer.verification.report import Row
from clearformer.verification.sides import Function, Side
from clearformer.verification.tolerance import DIFFERENCES
from clearformer.verification.working_cases import WORKING_CASES


def operation_row(name: str, side: Side) -> Row:
    """An operation on a side, in every case, against the reference.

    On the reference itself: its gradients against finite differences, in the small cases, and its
    values against what it computes when nothing is recorded.
    """
    if side.is_reference:
        return _differentiated(name, side)
    comparison = Comparison(name, side.dtype)
    for case in _cases(name, (*CASES, *WORKING_CASES)):
        with comparison.attempt(case.arguments):
            comparison.run(case.ours, _arrays(case), side, case.arguments, case.incoming)
    return comparison.row()


def step_by_step_row(side: Side) -> Row:
    """Attention the way a listener makes it go against the one operation, on the same side."""
    comparison = Comparison("attention, step by step", side.dtype)
    for case in _cases("attention", (*CASES, *WORKING_CASES)):
        with comparison.attempt(case.arguments):
            found = side.run(_listened(case), _arrays(case), case.incoming)
            expected = side.run(case.ours, _arrays(case), case.incoming)
            comparison.meet(found, expected, case.arguments)
    return comparison.row()


def _differentiated(name: str, side: Side) -> Row:
    comparison = Comparison(name, side.dtype, gradient=DIFFERENCES)
    for case in _cases(name, CASES):
        with comparison.attempt(case.arguments):
            found = side.run(case.ours, _arrays(case))
            plain = np.asarray(case.ours(*found.inputs))
            comparison.value.meet(found.value, plain, case.arguments)
            for slopes in against_differences(case.ours, found):
                comparison.gradient.meet(*slopes, case.arguments)
    return comparison.row()


def _cases(name: str, cases: Iterable[Case]) -> list[Case]:
    return [case for case in cases if case.operation == name]


def _arrays(case: Case) -> list[np.ndarray]:
    return case.arrays(np.random.default_rng(0))


def _listened(case: Case) -> Function:
    """The case of attention, one named step after another."""

    def function(*operands: Any) -> Any:
        mixed, _ = case.run(attention, operands, return_weights=True)
        return mixed

    return function
