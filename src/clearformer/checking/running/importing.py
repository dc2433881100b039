"""Runs a learner's file once and finds the function in it."""

import ast
import difflib
import linecache
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

from clearformer.checking.record import Failure, Raised
from clearformer.checking.running.clock import TookTooLongError, limit
from clearformer.checking.running.failing import Kind, failure
from clearformer.checking.running.frames import Home, raised
from clearformer.checking.running.memory import Allowance, out_of_memory

NAME = "__answer__"
"""Under which the file is imported, so that no other module is in its way."""

LONGEST_IMPORT = 10.0
"""Seconds that running the file may take."""

WORK = 0.5
"""Seconds of running from which the file is said to do work when it is imported."""

INSTALL = 'pip install ".[torch]" in the clone'
"""What brings PyTorch, as other commands say it."""

_WORKING = (ast.For, ast.While, ast.With, ast.Expr)


@dataclass(frozen=True)
class Imported:
    """A file that has run."""

    module: ModuleType
    names: dict[str, Any]
    works: bool = False
    """Whether it does more than define things, such as training."""


@dataclass(frozen=True)
class Found:
    """The function that is meant."""

    name: str
    thing: Any


def imported(file: Path, text: str, allowance: Allowance) -> Imported | Failure:
    """The module of `file`, whose source is `text`, after running it.

    `allowance` is the memory that it may ask for.
    """
    module = ModuleType(NAME)
    module.__file__ = str(file)
    sys.modules[NAME] = module
    sys.path.insert(0, str(file.resolve().parent))
    linecache.cache[str(file)] = (len(text), None, text.splitlines(keepends=True), str(file))
    began = time.monotonic()
    try:
        with limit(LONGEST_IMPORT), allowance.kept():
            code = compile(text, str(file), "exec", dont_inherit=True)
            exec(code, vars(module))
    except BaseException as error:
        return _not_imported(error, Home(vars(module)))
    took = time.monotonic() - began
    return Imported(module, vars(module), took > WORK and _has_work(text))


def _has_work(text: str) -> bool:
    return any(
        isinstance(each, _WORKING) and not _is_docstring(each) for each in ast.parse(text).body
    )


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _not_imported(error: BaseException, home: Home) -> Failure:
    what = raised(error, home)
    if isinstance(error, TookTooLongError):
        kind: Kind = "timeout"
        english = "running the file itself was not done after {seconds} seconds (line {line})"
        japanese = "ファイルの実行が {seconds} 秒で終わりませんでした ({line} 行目)"
        what = Raised("Timeout", "", what.line, what.source, what.shapes)
    elif out_of_memory(error):
        kind = "memory"
        english = "running the file itself asked for more memory than the limit (line {line})"
        japanese = "ファイルの実行がメモリの上限を超えました ({line} 行目)"
    elif isinstance(error, EOFError) and "input()" in str(error):
        kind = "input"
        english = "the file itself asks for input (line {line})"
        japanese = "ファイルの実行中に入力を求めています ({line} 行目)"
    else:
        kind = "import"
        english = "{what}" + (" (line {line})" if what.line else "")
        japanese = "{what}" + (" ({line} 行目)" if what.line else "")
        if isinstance(error, ModuleNotFoundError) and error.name == "torch":
            english += f"; PyTorch is not installed: {INSTALL}"
            japanese += f"。PyTorch がありません: {INSTALL}"
    return failure(
        kind,
        english,
        japanese,
        raised=what,
        seconds=f"{LONGEST_IMPORT:g}",
        line=what.line,
        what=f"{what.kind}: {what.message}" if what.message else what.kind,
    )


@dataclass(frozen=True)
class Search:
    """Looks for a function among the global names of a file."""

    names: dict[str, Any] = field(repr=False)

    def function(self, wanted: str | None, exercise: str) -> Found | Failure:
        """The function called `wanted`; without it that of the exercise, else the only one."""
        own = self._own()
        if wanted is None:
            alike = [name for name in own if _folded(name) == _folded(exercise)]
            if exercise in self.names:
                wanted = exercise
            elif len(alike) == 1 or len(own) == 1:
                wanted = (alike or own)[0]
        if wanted is not None and callable(self.names.get(wanted)):
            return Found(wanted, self.names[wanted])
        return self._missing(wanted or exercise, own)

    def _own(self) -> list[str]:
        """Public functions and modules that the file defines itself."""
        return [
            name
            for name, value in self.names.items()
            if not name.startswith("_")
            and callable(value)
            and (getattr(value, "__module__", None) == NAME or _made_here(value))
        ]

    def _missing(self, wanted: str, own: list[str]) -> Failure:
        if wanted in self.names:
            return failure(
                "missing",
                "{name} is not a function but {value}",
                "{name} は関数ではなく {value} です",
                name=wanted,
                value=repr(self.names[wanted])[:60],
                nearest=own[:3],
            )
        folded = {_folded(name): name for name in own}
        close = difflib.get_close_matches(_folded(wanted), list(folded), n=3, cutoff=0.4)
        return failure(
            "missing",
            "the file has no function {name}",
            "ファイルに関数 {name} がありません",
            name=wanted,
            nearest=[folded[name] for name in close] or own[:3],
        )


def _made_here(value: Any) -> bool:
    """Whether it is an object made of something from elsewhere, such as functools.partial."""
    return type(value).__module__ in ("functools", NAME)


def _folded(name: str) -> str:
    """One name for self_attention and SelfAttention."""
    return name.replace("_", "").lower()
