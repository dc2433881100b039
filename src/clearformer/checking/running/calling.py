"""One call of an answer: fresh copies in, and everything that happened out."""

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from clearformer.checking.exercise import Exercise
from clearformer.checking.probe import Probe
from clearformer.checking.record import Changed, Library, Outcome, Raised
from clearformer.checking.running.answer import Answer
from clearformer.checking.running.arrays import fresh, image
from clearformer.checking.running.binding import SkippedError
from clearformer.checking.running.changing import changed_names, changing_lines
from clearformer.checking.running.clock import TookTooLongError, limit
from clearformer.checking.running.flatten import UnusableError, flatten
from clearformer.checking.running.frames import raised
from clearformer.checking.running.memory import NO_LIMIT, Allowance, out_of_memory
from clearformer.checking.running.warned import warnings_of

TIMEOUT = "Timeout"
"""`Raised.kind` of a call that took too long."""

MEMORY = "MemoryError"
"""`Raised.kind` of a call that asked for more memory than it may have."""


@dataclass(frozen=True)
class Caller:
    """Calls one answer to one exercise in one library."""

    answer: Answer
    exercise: Exercise
    library: Library
    allowance: Allowance = NO_LIMIT
    interrupt: bool = True
    """Whether a KeyboardInterrupt is the answer's own; else it is the person's and goes on up."""

    def outcome(self, probe: Probe, seconds: float | None) -> Outcome:
        """What one call gave, without looking for the line that changed an argument."""
        arguments = fresh(probe.arguments, self.library)
        before = {name: image(value) for name, value in arguments.items()}
        with warnings_of(self.answer.home) as warned:
            try:
                with limit(seconds), self.allowance.kept():
                    value = self.answer.call(probe, arguments)
            except SkippedError as error:
                return Outcome(skipped=True, lacks=error.parameter)
            except BaseException as error:
                self._pass_on(error)
                return Outcome(
                    raised=self._raised(error, seconds),
                    changed=self._changed(before, arguments),
                    warned=tuple(warned),
                )
            outcome = self._usable(value, probe)
        changed = self._changed(before, arguments)
        return replace(outcome, changed=changed, warned=tuple(warned))

    def _pass_on(self, error: BaseException) -> None:
        if isinstance(error, KeyboardInterrupt) and not self.interrupt:
            raise error

    def _raised(self, error: BaseException, seconds: float | None) -> Raised:
        found = raised(error, self.answer.home)
        if isinstance(error, TookTooLongError):
            return replace(found, kind=TIMEOUT, message=f"not done after {seconds:.2g} seconds")
        return replace(found, kind=MEMORY) if out_of_memory(error) else found

    def _usable(self, value: Any, probe: Probe) -> Outcome:
        """The values by name; also what they are made of may run code of the learner's."""
        like = right_value(self.exercise, probe)
        try:
            values, foreign = flatten(value, self.exercise.returns, like=like, library=self.library)
        except UnusableError as what:
            return Outcome(unusable=what.came)
        except BaseException as error:
            self._pass_on(error)
            return Outcome(raised=self._raised(error, None))
        return Outcome({name: np.array(each) for name, each in values.items()}, foreign=foreign)

    def _changed(
        self, before: Mapping[str, Any], arguments: Mapping[str, Any]
    ) -> tuple[Changed, ...]:
        names = changed_names(before, arguments)
        return tuple(Changed(name) for name in names if name not in self.exercise.may_change)

    def changed(self, probe: Probe, found: Sequence[Changed], seconds: float) -> list[Changed]:
        """The same changes with their lines, from another call that is watched line by line."""
        arguments = fresh(probe.arguments, self.library)
        lines: list[Changed] = []

        def watched() -> None:
            call = _quietly(self.answer.call, probe, arguments)
            lines.extend(changing_lines(call, arguments, self.answer.home))

        try:
            with limit(seconds), self.allowance.kept(), warnings_of(self.answer.home):
                watched()
        except BaseException as error:
            self._pass_on(error)
        by_name = {each.argument: each for each in lines}
        return [by_name.get(each.argument, each) for each in found]


def _quietly(call: Callable[..., Any], *arguments: Any) -> Callable[[], None]:
    """The call without what it raises, which is known from the call before."""

    def quiet() -> None:
        try:
            call(*arguments)
        except (TookTooLongError, KeyboardInterrupt):
            raise
        except BaseException:
            return

    return quiet


def right_value(exercise: Exercise, probe: Probe) -> Any:
    """What the reference returns for `probe`; None if it cannot."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return exercise.version()(**fresh(probe.arguments, "numpy"))
        except Exception:
            return None
