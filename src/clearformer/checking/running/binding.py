"""How the arguments of an exercise reach the parameters of an answer, whatever their names are.

What an exercise requires is given by position. What has a default there is given by the answer's
own name for it, else by position where there is room, else left out if it has its default.
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from clearformer.checking.exercise import Exercise
from clearformer.checking.record import Failure
from clearformer.checking.running.failing import failure

OF_OTHER_USE = (
    "return",
    "need",
    "verbose",
    "debug",
    "plot",
    "print",
    "dropout",
    "training",
    "seed",
)
"""How names of parameters begin that never stand for an argument of the exercise."""

_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


class SkippedError(Exception):
    """The answer has no parameter for something that this probe needs."""

    def __init__(self, parameter: str | None = None):
        super().__init__(parameter)
        self.parameter = parameter


@dataclass(frozen=True)
class Binding:
    """Which argument goes where."""

    positions: Sequence[str]
    """Arguments in the order in which they are given."""
    names: Mapping[str, str] = field(default_factory=dict)
    """The answer's own name for each argument that is given by name."""
    defaults: Mapping[str, Any] = field(default_factory=dict)
    """What the exercise takes for arguments that a probe leaves out."""
    open: bool = False
    """Whether any other name may be given too (**named)."""
    notes: Sequence[str] = ()

    def call(self, answer: Callable[..., Any], arguments: Mapping[str, Any]) -> Any:
        """Calls `answer`.

        Raises:
            SkippedError: it has no place for an argument that is not at its default.
        """
        positional, named = self.arranged(arguments)
        return answer(*positional, **named)

    def arranged(self, arguments: Mapping[str, Any]) -> tuple[list[Any], dict[str, Any]]:
        """The arguments by position and by name."""
        given = {**self.defaults, **arguments}
        named = {theirs: given[name] for name, theirs in self.names.items() if name in given}
        for name in given.keys() - self.names.keys() - set(self.positions):
            if name in self.defaults and _same(given[name], self.defaults[name]):
                continue
            if not self.open:
                raise SkippedError(name)
            named[name] = given[name]
        return [given[name] for name in self.positions], named


def _same(value: Any, default: Any) -> bool:
    return type(value) is type(default) and bool(value == default)


def bind(
    answer: Callable[..., Any],
    exercise: Exercise,
    wanted: Sequence[inspect.Parameter] | None = None,
) -> Binding | Failure:
    """Finds out how `answer` is to be called; a failure where it cannot take the arguments.

    `wanted` are the parameters of the exercise that it gets, all of them if not given.
    """
    wanted = exercise.parameters if wanted is None else wanted
    required = [each.name for each in wanted if each.default is each.empty]
    defaults = {each.name: each.default for each in wanted if each.default is not each.empty}
    try:
        parameters = list(inspect.signature(answer).parameters.values())
    except (ValueError, TypeError):
        return Binding(required, {}, defaults)
    names = _names(parameters, required, defaults, exercise.synonyms)
    places = [each for each in parameters if each.kind in _POSITIONAL]
    free = [each for each in places if each.name not in names.values()]
    positions = [name for name in required if name not in names]
    many = any(each.kind is each.VAR_POSITIONAL for each in parameters)
    rest = _by_position(free[len(positions) :], defaults, names)
    left = [each for each in free[len(positions) + len(rest) :] if each.default is each.empty]
    unnamed = [
        each.name
        for each in parameters
        if each.kind is each.KEYWORD_ONLY
        and each.default is each.empty
        and each.name not in names.values()
    ]
    if left or unnamed or (len(free) < len(positions) and not many):
        return _does_not_fit(exercise, wanted, answer)
    return Binding(
        [*positions, *rest],
        names,
        defaults,
        any(each.kind is each.VAR_KEYWORD for each in parameters),
        _notes(parameters, names, defaults),
    )


def _names(
    parameters: Sequence[inspect.Parameter],
    required: Sequence[str],
    defaults: Mapping[str, Any],
    synonyms: Mapping[str, Sequence[str]],
) -> dict[str, str]:
    """The answer's name for each argument with a default, and for those it only takes by name."""
    named = [each for each in parameters if each.kind is each.KEYWORD_ONLY]
    beyond = [each for each in parameters if each.kind is _POSITIONAL[1]][len(required) :]
    found = {}
    for name in (*required, *defaults):
        allowed = [*named, *(beyond if name in defaults else ())]
        known = [each.name for each in allowed if each.name in (name, *synonyms.get(name, ()))]
        if known:
            found[name] = known[0]
    return found


def _by_position(
    free: Sequence[inspect.Parameter], defaults: Mapping[str, Any], names: Mapping[str, str]
) -> list[str]:
    """Arguments with a default for which there is room, although the name is another."""
    given = []
    waiting = [name for name in defaults if name not in names]
    for place, name in zip(free, waiting, strict=False):
        other_use = place.name.lower().startswith(OF_OTHER_USE)
        alike = place.default is place.empty or _same(place.default, defaults[name])
        if other_use or not alike:
            break
        given.append(name)
    return given


def _notes(
    parameters: Sequence[inspect.Parameter], names: Mapping[str, str], defaults: Mapping[str, Any]
) -> list[str]:
    own = {each.name: each.default for each in parameters if each.default is not each.empty}
    return [
        f"other-default:{names[name]}={own[names[name]]!r}"
        for name, default in defaults.items()
        if name in names and names[name] in own and not _equal(own[names[name]], default)
    ]


def _equal(one: Any, other: Any) -> bool:
    try:
        return bool(one == other)
    except Exception:
        return False


def _does_not_fit(
    exercise: Exercise, wanted: Sequence[inspect.Parameter], answer: Callable[..., Any]
) -> Failure:
    taken = str(inspect.signature(answer))
    expected = ", ".join(str(each.replace(annotation=each.empty)) for each in wanted)
    return failure(
        "signature",
        "expected a function that takes ({expected}); yours takes {taken}",
        "({expected}) を受け取る関数が必要です。この関数は {taken} を受け取ります",
        expected=expected,
        taken=taken[:200],
    )
