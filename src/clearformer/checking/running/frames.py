"""Where in the learner's own code something happened: the line, its source, the shapes there."""

import functools
import inspect
import linecache
from collections.abc import Iterator
from types import CodeType, FrameType, TracebackType
from typing import Any

from clearformer.checking.record import Raised

LONGEST = 500
"""Characters that are kept of a message or a line."""

MOST_SHAPES = 8


class Home:
    """The learner's own code: everything that shares the global names of the answer.

    That is one file, or all cells of one notebook.
    """

    def __init__(self, names: dict[str, Any] | None):
        self.names = names

    def __contains__(self, frame: FrameType) -> bool:
        return self.names is not None and frame.f_globals is self.names

    def nearest(self, frame: FrameType | None) -> FrameType | None:
        """The innermost frame of the learner's at or outside `frame`."""
        while frame is not None and frame not in self:
            frame = frame.f_back
        return frame

    def last(self, trace: TracebackType | None) -> tuple[FrameType, int] | None:
        """The learner's last frame of a traceback, and the line that was running in it."""
        found = None
        while trace is not None:
            if trace.tb_frame in self:
                found = trace.tb_frame, trace.tb_lineno
            trace = trace.tb_next
        return found


def home(answer: Any) -> Home:
    """Where the code of a function, class or callable object was written."""
    answer = inspect.unwrap(answer)
    while isinstance(answer, functools.partial):
        answer = inspect.unwrap(answer.func)
    for each in _functions(answer):
        names = getattr(inspect.unwrap(each), "__globals__", None)
        if names is not None:
            return Home(names)
    return Home(None)


def _functions(answer: Any) -> Iterator[Any]:
    yield answer
    kind = answer if isinstance(answer, type) else type(answer)
    for name in ("forward", "__call__", "__init__"):
        for each in kind.__mro__:
            if name in vars(each) and not each.__module__.startswith("torch."):
                yield vars(each)[name]


def source(code: CodeType, line: int) -> str:
    """The line as it is written, without the space around it."""
    return printable(linecache.getline(code.co_filename, line).strip()[:LONGEST])


def printable(text: str) -> str:
    """The text without what no terminal can be given, or should be: its control characters."""
    shown = text.encode("utf-8", "replace").decode("utf-8")
    return "".join(each if each.isprintable() or each in "\n\t" else "\ufffd" for each in shown)


def raised(error: BaseException, home: Home) -> Raised:
    """The exception as the learner can use it."""
    kind = type(error).__name__
    message = _text(error)
    if isinstance(error, SyntaxError):
        text = printable((error.text or "").strip()[:LONGEST])
        return Raised(kind, str(error.msg), error.lineno, text)
    found = home.last(error.__traceback__)
    if found is None:
        return Raised(kind, message)
    frame, line = found
    return Raised(kind, message, line, source(frame.f_code, line), shapes(frame))


def _text(error: BaseException) -> str:
    try:
        return printable(str(error)[:LONGEST])
    except Exception:
        return ""


def shapes(frame: FrameType) -> dict[str, str]:
    """Of the arrays that have a name in `frame`: {"Q": "(5, 3)"}."""
    found = {}
    for name, value in list(frame.f_locals.items()):
        try:
            shape = getattr(value, "shape", None)
        except Exception:  # an object of the learner's own
            continue
        if not isinstance(shape, tuple) or name.startswith((".", "_")):
            continue
        if all(isinstance(each, int) for each in shape):
            found[name] = str(tuple(shape))
    return dict(list(found.items())[:MOST_SHAPES])
