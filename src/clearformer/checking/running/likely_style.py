"""In which styles an answer is tried, the likeliest first."""

import sys
from collections.abc import Iterator
from types import CodeType, ModuleType
from typing import Any

from clearformer.checking.exercise import Exercise
from clearformer.checking.record import Library, Style
from clearformer.checking.running.answer import Answer
from clearformer.checking.running.module import is_module


def styles_to_try(answer: Answer, thing: Any, exercise: Exercise) -> list[Style]:
    """NumPy unless its code has PyTorch at hand, then that first; each plain, then batched.

    A function that names NumPy and not PyTorch, though it could, is tried with NumPy first. What is
    not written in Python, such as F.gelu, may be of PyTorch where that is loaded.
    """
    names, used = answer.home.names or {}, _used(thing, answer)
    torch = of_library(names, "torch") | {"torch"}
    libraries: list[Library] = ["numpy"]
    if is_module(thing):
        libraries = ["torch"]
    elif used & torch or len(torch) > 1 or "torch" in names:
        only_numpy = used & of_library(names, "numpy") and not used & torch
        libraries = ["numpy", "torch"] if only_numpy else ["torch", "numpy"]
    elif answer.home.names is None and "torch" in sys.modules:
        libraries = ["numpy", "torch"]
    batches = (False, True) if exercise.batched else (False,)
    form = exercise.module if is_module(thing) else None
    widths = (False, True) if form and form.narrowed else (False,)
    return [
        Style(library, batched, narrow)
        for library in libraries
        for narrow in widths
        for batched in batches
    ]


def of_library(names: dict[str, Any] | None, library: str) -> set[str]:
    """The global names that stand for `library`, a module of it or something from it."""
    return {
        name
        for name, value in list((names or {}).items())
        if _origin(value).split(".")[0] == library
    }


def _origin(value: Any) -> str:
    if isinstance(value, ModuleType):
        return value.__name__
    origin = getattr(value, "__module__", None)
    return origin if isinstance(origin, str) else ""


def _used(thing: Any, answer: Answer) -> set[str]:
    """The names in the code of a function and of those of the learner's that it uses."""
    names = answer.home.names or {}
    used, waiting = set[str](), [thing]
    while waiting:
        code = getattr(waiting.pop(), "__code__", None)
        new = set(_named(code)) - used if isinstance(code, CodeType) else set()
        used |= new
        waiting += [names[name] for name in new if name in names]
    return used


def _named(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _named(constant)
