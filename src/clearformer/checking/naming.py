"""Finds the known changes that explain an answer: fewest first, a name only where it is proved.

A change explains an answer if with it the right way gives exactly what the answer gives, on every
main probe, and if it makes a difference on at least one. A wrong name is worse than none.
"""

import warnings
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TypeVar

import numpy as np

from clearformer.checking.agreement import Arrays, Tolerance, agree
from clearformer.checking.exercise import Case, Change, Exercise, Fit, Mistake, Step, Variant
from clearformer.checking.probe import Probe
from clearformer.checking.record import Library, Outcome
from clearformer.checking.running.arrays import each_array, single
from clearformer.checking.running.flatten import flatten
from clearformer.errors import ConfigurationError

Known = TypeVar("Known", Mistake, Variant)

Result = Arrays | None
"""What a version gave on a probe; None where it raised."""


@dataclass(frozen=True)
class Tried:
    """One probe that was called, with what the answer gave (None where it raised)."""

    probe: Probe
    mine: Result
    tolerance: Tolerance

    @classmethod
    def of(cls, probe: Probe, outcome: Outcome, tolerance: Tolerance) -> "Tried | None":
        """None where the outcome says nothing: not called, too slow, nothing usable."""
        if outcome.values is not None:
            return cls(probe, outcome.values, tolerance)
        raised = outcome.raised
        return cls(probe, None, tolerance) if raised and raised.kind != "Timeout" else None


@dataclass(frozen=True)
class Named:
    """What explains an answer; several entries where nothing can tell them apart."""

    explanations: Sequence[Sequence[Change]]
    """Each is a set of changes that together give the answer."""
    looked_at: tuple[int, int]
    """How many single changes and pairs were tried."""


class Versions:
    """Results of the exercise under changes, computed once each.

    On hard inputs they are computed with the numbers of the answer: those of PyTorch, float32,
    overflow elsewhere than NumPy's.
    """

    def __init__(self, exercise: Exercise, library: Library = "numpy"):
        self.exercise = exercise
        self.library = library
        self._known: dict[tuple[tuple[int, ...], str], Result] = {}
        self._changes: list[Sequence[Change]] = []  # kept, so that their ids stay their own

    def result(self, probe: Probe, *changes: Change) -> Result:
        """What the exercise with `changes` gives on `probe`."""
        key = (tuple(map(id, changes)), probe.name)
        if key not in self._known:
            self._changes.append(changes)
            self._known[key] = self._compute(probe, changes)
        return self._known[key]

    def give(self, each: Tried, *changes: Change) -> bool:
        """Whether `changes` give what the answer gave on one probe."""
        return alike(each.mine, self.result(each.probe, *changes), each.tolerance)

    def explains(self, tried: Sequence[Tried], *changes: Change) -> bool:
        """Whether `changes` give what the answer gave, everywhere, and make a difference.

        Raising on some inputs is a difference, too, where others give values. Two changes
        must leave a number somewhere: many pairs make nothing but NaN.
        """
        makes_difference, gives_values = False, False
        for each in tried:
            theirs = self.result(each.probe, *changes)
            if not alike(each.mine, theirs, each.tolerance):
                return False
            right = self.result(each.probe)
            makes_difference |= not alike(theirs, right, each.tolerance)
            gives_values |= theirs is not None and (len(changes) < 2 or _has_numbers(theirs))
        return (makes_difference and gives_values) or not changes

    def _compute(self, probe: Probe, changes: Sequence[Change]) -> Result:
        version = self.exercise.version(*(change.change for change in changes))
        arguments = deepcopy(dict(probe.arguments))
        if self.library == "torch" and probe.role == "stress":
            arguments = each_array(arguments, single)
        try:
            with np.errstate(all="ignore"), warnings.catch_warnings(action="ignore"):
                value = version(**arguments)
            return flatten(value, self.exercise.returns)[0]
        except (ValueError, IndexError, TypeError, ArithmeticError, KeyError, AttributeError):
            return None  # a mistake that crashes on this probe, as the learner's may
        except (NameError, ImportError, AssertionError, NotImplementedError) as error:
            which = " and ".join(change.key for change in changes) or "its right way"
            raise ConfigurationError(
                f"the exercise {self.exercise.name} fails itself: {which} on {probe.name!r}: "
                f"{type(error).__name__}: {error}"
            ) from error


def _has_numbers(result: Arrays) -> bool:
    return any(bool(np.isfinite(array).any()) for array in result.values())


def name(versions: Versions, tried: Sequence[Tried], cases: Mapping[str, Case]) -> Named:
    """The fewest known changes that explain what was tried: none found gives no explanations."""
    deciding = [each for each in versions.exercise.mistakes if not each.beside]
    mistakes = list(fitted(deciding, cases))
    singles = list(_singles(mistakes, list(fitted(versions.exercise.variants, cases))))
    pairs = [each for each in combinations(mistakes, 2) if independent(*each)]
    looked_at = len(singles), len(pairs)
    if any(each.mine is not None for each in tried):
        for candidates in (singles, pairs):
            found = {_keys(each): each for each in candidates if versions.explains(tried, *each)}
            if found:
                return Named(_needed(list(found.values())), looked_at)
    return Named((), looked_at)


def _needed(explanations: Sequence[Sequence[Change]]) -> list[Sequence[Change]]:
    """Those in which no change is idle: none that holds all of another, and more."""
    keys = [set(_keys(each)) for each in explanations]
    return [
        each
        for each, own in zip(explanations, keys, strict=True)
        if not any(other < own for other in keys)
    ]


def fitted(changes: Sequence[Known], cases: Mapping[str, Case]) -> Iterator[Known]:
    """The changes, with numbers read off the answer where they take any."""
    for each in changes:
        found = _read_off(each.fit, cases) if each.fit else None
        yield replace(each, change=found) if found else each


def _read_off(fit: Fit, cases: Mapping[str, Case]) -> Mapping[str, Step] | None:
    try:
        with np.errstate(all="ignore"):
            return fit(cases)
    except (KeyError, IndexError, ValueError, ArithmeticError):
        return None


def _singles(
    mistakes: Sequence[Mistake], variants: Sequence[Variant]
) -> Iterator[tuple[Change, ...]]:
    """One mistake, by the exercise's own convention or by another."""
    yield from ((each,) for each in mistakes)
    for variant in variants:
        yield from ((variant, each) for each in mistakes if independent(variant, each))


def _keys(changes: Sequence[Change]) -> tuple[str, ...]:
    return tuple(each.key for each in changes)


def independent(*changes: Change) -> bool:
    """Whether all can be made at once: they change different steps."""
    steps = [step for each in changes for step in each.change]
    return len(steps) == len(set(steps))


def alike(one: Result, other: Result, tolerance: Tolerance) -> bool:
    """Whether two results are the same; raising is only like raising."""
    if one is None or other is None:
        return one is other
    return agree(one, other, tolerance)
