"""Finds the line that writes into an argument, by watching the arguments after every line."""

import sys
from collections.abc import Callable, Mapping
from types import FrameType
from typing import Any

from clearformer.checking.record import Changed
from clearformer.checking.running.arrays import image
from clearformer.checking.running.frames import Home, source


def changed_names(before: Mapping[str, Any], arguments: Mapping[str, Any]) -> list[str]:
    """The arguments of which not every byte is as in `before`, an image of each."""
    return [name for name, value in arguments.items() if image(value) != before[name]]


def changing_lines(
    call: Callable[[], Any], arguments: Mapping[str, Any], home: Home
) -> list[Changed]:
    """Calls `call`, which has been given `arguments`, and says which line changed each of them.

    Lines of the learner's own functions are told apart; a function from elsewhere that changes an
    argument counts as the line that called it.
    """
    watch = _Watch(arguments, home)
    before = sys.gettrace()
    sys.settrace(watch.called)
    try:
        call()
    except Exception:
        pass  # what it raises is known from the call before; the lines up to there count
    finally:
        sys.settrace(before)
    watch.compare()
    return list(watch.found.values())


class _Watch:
    """A trace function that compares the arguments whenever a line is done."""

    def __init__(self, arguments: Mapping[str, Any], home: Home):
        self.arguments = arguments
        self.home = home
        self.before = {name: image(value) for name, value in arguments.items()}
        self.found: dict[str, Changed] = {}
        self.running: tuple[Any, int] | None = None
        """The code and line that has begun and whose effect is not compared yet."""

    def called(self, frame: FrameType, event: str, argument: Any) -> Any:
        if frame not in self.home:
            return None
        self.compare()
        self.running = frame.f_code, frame.f_lineno
        return self.line

    def line(self, frame: FrameType, event: str, argument: Any) -> Any:
        if event == "exception":
            return self.line
        self.compare()
        self.running = frame.f_code, frame.f_lineno
        if event == "return":
            outer = self.home.nearest(frame.f_back)
            if outer is not None:
                self.running = outer.f_code, outer.f_lineno
        return self.line

    def compare(self) -> None:
        """Lays what has changed since the last time at the door of the line that was running."""
        for name, value in self.arguments.items():
            if name not in self.found and image(value) != self.before[name]:
                line = self.running
                self.found[name] = Changed(name, line[1], source(*line)) if line else Changed(name)
