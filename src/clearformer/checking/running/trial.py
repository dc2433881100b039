"""Tries an answer on every probe of an exercise, in the style in which it wants to be called.

Every probe is called twice, the second time after all others, so that what an answer remembers
between calls shows. In its own process and in this one the same happens.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from clearformer.checking.exercise import Exercise
from clearformer.checking.probe import Probe
from clearformer.checking.record import Failure, Outcome, Raised, Record, Style
from clearformer.checking.running.answer import Answer, answer_from
from clearformer.checking.running.calling import MEMORY, TIMEOUT, Caller
from clearformer.checking.running.failing import failure
from clearformer.checking.running.likely_style import styles_to_try
from clearformer.checking.running.memory import NO_LIMIT, Allowance
from clearformer.checking.running.probes import all_probes

LONGEST_CALL = 2.0
"""Seconds that one call may take; less when others have already taken long."""

SHARE = 0.25
"""Of the time that is left, what one call may take."""

MOST_ENDLESS = 3
"""After so many calls that met a limit no other is made."""

NOT_CALLED = "not called, since the calls before met a limit"

Told = Callable[[Probe, float], None]
"""Called before each call, with how many seconds it may take."""


@dataclass
class Trial:
    """One answer to one exercise."""

    exercise: Exercise
    seconds: float = 10.0
    """For all calls together."""
    without: Mapping[str, Raised] = field(default_factory=dict)
    """Probes that are not called, and what happened when they were."""
    told: Told | None = None
    allowance: Allowance = NO_LIMIT
    interrupt: bool = True
    """Whether a KeyboardInterrupt is the answer's own."""

    def of(self, thing: Any, name: str, file: str | None = None) -> Record:
        """The record of `thing`, a function, class or module."""
        answer = answer_from(thing, self.exercise)
        if isinstance(answer, Failure):
            return Record(name, file, Style(), {}, answer)
        self.endless: list[Raised] = []
        self.ends = time.monotonic() + self.seconds
        style, outcomes = self._first_calls(answer, thing)
        outcomes = self._second_calls(answer, style, outcomes)
        failed = _nothing_ran(self.exercise, style, outcomes)
        return Record(name, file, style, outcomes, failed, tuple(answer.notes))

    def _first_calls(self, answer: Answer, thing: Any) -> tuple[Style, dict[str, Outcome]]:
        """The style in which most main probes run, and the outcomes of all probes in it."""
        best: tuple[int, Style, dict[str, Outcome]] = (-1, Style(), {})
        for style in styles_to_try(answer, thing, self.exercise):
            probes = all_probes(self.exercise, style)
            main = [probe for probe in probes if probe.role == "main"]
            outcomes = self._calls(self._caller(answer, style), main)
            ran = sum(_ran(outcome) for outcome in outcomes.values())
            if ran > best[0]:
                best = ran, style, outcomes
            if ran == len(outcomes) or any(_endless(outcome) for outcome in outcomes.values()):
                break
        _, style, outcomes = best
        caller = self._caller(answer, style)
        rest = [probe for probe in all_probes(self.exercise, style) if probe.role != "main"]
        return style, {**outcomes, **self._calls(caller, rest)}

    def _caller(self, answer: Answer, style: Style) -> Caller:
        return Caller(answer, self.exercise, style.library, self.allowance, self.interrupt)

    def _calls(self, caller: Caller, probes: list[Probe]) -> dict[str, Outcome]:
        return {probe.name: self._call(caller, probe) for probe in probes}

    def _call(self, caller: Caller, probe: Probe) -> Outcome:
        if probe.name in self.without:
            return Outcome(raised=self.without[probe.name])
        if len(self.endless) >= MOST_ENDLESS:
            return Outcome(raised=replace(self.endless[-1], message=NOT_CALLED))
        outcome = self._called(caller, probe)
        if _endless(outcome) and outcome.raised:
            self.endless.append(outcome.raised)
        return outcome

    def _called(self, caller: Caller, probe: Probe) -> Outcome:
        seconds = self._allowed()
        if self.told:
            self.told(probe, seconds)
        return caller.outcome(probe, seconds)

    def _allowed(self) -> float:
        return max(0.05, min(LONGEST_CALL, SHARE * (self.ends - time.monotonic())))

    def _second_calls(
        self, answer: Answer, style: Style, outcomes: dict[str, Outcome]
    ) -> dict[str, Outcome]:
        """The outcomes with whether they repeat, and the lines that change arguments."""
        caller = self._caller(answer, style)
        checked = {}
        for probe in all_probes(self.exercise, style):
            outcome = outcomes[probe.name]
            checked[probe.name] = outcome
            if outcome.skipped or _endless(outcome) or probe.name in self.without:
                continue
            if time.monotonic() > self.ends:
                continue
            again = self._call(caller, probe)
            outcome = replace(outcome, repeats=_endless(again) or _alike(outcome, again))
            if outcome.changed:
                lines = caller.changed(probe, outcome.changed, self._allowed())
                outcome = replace(outcome, changed=tuple(lines))
            checked[probe.name] = outcome
        return checked


def _ran(outcome: Outcome) -> bool:
    return outcome.values is not None and outcome.foreign is None


def _endless(outcome: Outcome) -> bool:
    """Whether it met a limit, of time or of memory, which takes long."""
    return outcome.raised is not None and outcome.raised.kind in (TIMEOUT, MEMORY)


def _alike(one: Outcome, other: Outcome) -> bool:
    """Whether two calls gave the same, up to the rounding of sums taken in another order."""
    if one.values is None or other.values is None:
        return (one.values is None) == (other.values is None)
    return one.values.keys() == other.values.keys() and all(
        _close(value, other.values[name]) for name, value in one.values.items()
    )


def _close(one: np.ndarray, other: np.ndarray) -> bool:
    if one.shape != other.shape:
        return False
    if one.dtype.kind not in "fc":
        return np.array_equal(one, other)
    least = 1e-9 if one.dtype == np.float64 else 1e-5
    finite = np.abs(one[np.isfinite(one)])
    size = finite.max() if finite.size else 1.0
    return bool(np.allclose(one, other, rtol=least, atol=least * size, equal_nan=True))


def _nothing_ran(
    exercise: Exercise, style: Style, outcomes: Mapping[str, Outcome]
) -> Failure | None:
    """A failure where every main probe ran out of time or of memory."""
    main = [outcomes[probe.name] for probe in all_probes(exercise, style) if probe.role == "main"]
    raised = [outcome.raised for outcome in main if not outcome.skipped]
    kinds = {each.kind if each else None for each in raised}
    if not kinds or kinds - {TIMEOUT, MEMORY}:
        return None
    if MEMORY in kinds:
        return failure(
            "memory",
            "every call asked for more memory than the limit",
            "どの呼び出しもメモリの上限を超えました",
            raised=next(each for each in raised if each and each.kind == MEMORY),
        )
    return failure(
        "timeout",
        "no call came back in time",
        "どの呼び出しも時間内に終わりませんでした",
        raised=raised[0],
    )
