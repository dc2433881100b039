"""What is tried: something that can be called with the arguments of a probe."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from clearformer.checking.exercise import Exercise
from clearformer.checking.probe import Probe
from clearformer.checking.record import Failure
from clearformer.checking.running.binding import Binding, bind
from clearformer.checking.running.failing import failure
from clearformer.checking.running.frames import Home, home
from clearformer.checking.running.module import ModuleAnswer, is_module


class Answer(Protocol):
    """A function or module with the way to call it."""

    @property
    def home(self) -> Home:
        """Where its code was written."""

    @property
    def notes(self) -> Sequence[str]:
        """What is worth telling of how it has to be called."""

    def call(self, probe: Probe, arguments: Mapping[str, Any]) -> Any:
        """Calls it with `arguments`, those of `probe` in its own library.

        Raises:
            SkippedError: it lacks a parameter that is needed.
        """


class FunctionAnswer:
    """A function, or anything else that is called with all arguments at once."""

    def __init__(self, function: Callable[..., Any], binding: Binding):
        self.function = function
        self.binding = binding
        self.home = home(function)
        self.notes = binding.notes

    def call(self, probe: Probe, arguments: Mapping[str, Any]) -> Any:
        """Calls the function."""
        return self.binding.call(self.function, arguments)


def answer_from(thing: Any, exercise: Exercise) -> Answer | Failure:
    """How `thing`, a function, class or module, is called for `exercise`; or why it cannot be."""
    if is_module(thing) and (exercise.module or not _is_like_a_function(thing)):
        return ModuleAnswer.of(thing, exercise)
    if not callable(thing):
        return failure(
            "missing",
            "expected a function; {thing} is not one",
            "関数が必要です。{thing} は関数ではありません",
            thing=repr(thing)[:80],
        )
    takes = thing.forward if is_module(thing) else thing
    binding = bind(takes, exercise)
    return binding if isinstance(binding, Failure) else FunctionAnswer(thing, binding)


def _is_like_a_function(module: Any) -> bool:
    """Whether a module is made already and holds nothing, as nn.Softmax(dim=-1) does."""
    if isinstance(module, type):
        return False
    return not [*module.parameters(), *module.buffers()]
