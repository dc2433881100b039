"""From what a function returned to arrays by name: of an answer, and of the reference.

The reference says what belongs where: an answer may return more, or wrap an array in a list, which
is noticed. A dict becomes "cache.K" and "cache.V", a list of arrays "grads.0", "grads.1".
"""

import inspect
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from clearformer.checking.record import Library
from clearformer.checking.running.arrays import as_array, is_tensor
from clearformer.checking.running.described import described, expected
from clearformer.checking.words import Words

OF_OBJECTS = Words("an array of objects", "オブジェクトの配列")
OF_COMPLEX = Words("an array of complex numbers, expected real ones", "複素数の配列")
OF_TEXT = Words("an array of text", "文字列の配列")
NO_TABLE = Words("a list that is not a table of numbers", "数の表になっていないリスト")

LARGEST = 500_000
"""More numbers than this in one array are described, not kept."""


class UnusableError(ValueError):
    """There are no such arrays in it; `came` says what there is instead."""

    def __init__(self, came: Words):
        super().__init__(came.en)
        self.came = came


def flatten(
    value: Any, returns: Sequence[str], *, like: Any = None, library: Library | None = None
) -> tuple[dict[str, np.ndarray], Words | None]:
    """The arrays of `value` by name, and what they were wrapped in if wrongly.

    Args:
        value: what was returned. A single name takes it or the first of a tuple; several take a
            tuple, list or dict in order. What comes after them is ignored.
        returns: the names, as in `Exercise.returns`.
        like: what the reference returned for the same arguments: says where a list or dict
            belongs, and where an array. Not given, the value is the reference's own.
        library: in which the answer was called, so that arrays of another one are noticed.

    Raises:
        UnusableError: there are no such arrays in it.
    """
    like = value if like is None else like
    gathered = _Gathered(library)
    parts = _parts(value, returns, like)
    likes = _parts(like, returns, None)
    for name, part, pattern in zip(returns, parts, likes, strict=True):
        gathered.add(name, part, pattern)
    return gathered.found, gathered.foreign


def _parts(value: Any, returns: Sequence[str], like: Any) -> list[Any]:
    """One part of `value` for each name."""
    if len(returns) == 1:
        return [_single(value, like)]
    names = ", ".join(returns)
    if isinstance(value, Mapping):
        if all(name in value for name in returns):
            return [value[name] for name in returns]
        value = list(value.values())
    if not isinstance(value, list | tuple):
        raise UnusableError(expected(described(value), names))
    if len(value) < len(returns):
        raise UnusableError(expected(_long(value), names))
    return list(value[: len(returns)])


def _single(value: Any, like: Any) -> Any:
    """The value, or the first of a tuple; but a tuple that stands for the whole list stays one."""
    if not isinstance(value, tuple) or not value:
        return value
    whole = isinstance(like, list) and len(value) == len(like)
    return value if whole and not isinstance(value[0], list | tuple) else value[0]


class _Gathered:
    """The arrays that have been found."""

    def __init__(self, library: Library | None):
        self.library = library
        self.found: dict[str, np.ndarray] = {}
        self.foreign: Words | None = None

    def add(self, name: str, value: Any, like: Any) -> None:
        """Takes the arrays of `value`, under `name` or names that begin with it."""
        if isinstance(like, Mapping):
            if not isinstance(value, Mapping):
                raise UnusableError(expected(described(value), f"{name}: dict"))
            for key in like:
                if key not in value:
                    raise UnusableError(expected(described(value), f'{name}["{key}"]'))
                self.add(f"{name}.{key}", value[key], like[key])
        elif holds_arrays(like):
            several = isinstance(value, list | tuple) or bool(getattr(value, "ndim", 0))
            members = list(value) if several else ()
            if len(members) != len(like):
                came = _long(value) if several else described(value)
                raise UnusableError(expected(came, f"{name}: {len(like)} arrays"))
            for place, member in enumerate(members):
                self.add(f"{name}.{place}", member, like[place])
        else:
            self.found[name] = self._leaf(value, isinstance(like, list | tuple))

    def _leaf(self, value: Any, may_be_list: bool) -> np.ndarray:
        """One array; what it should not have been wrapped in is noted."""
        array = self._array(value, may_be_list)
        if array.dtype.kind not in "biuf":
            raise UnusableError({"O": OF_OBJECTS, "c": OF_COMPLEX}.get(array.dtype.kind, OF_TEXT))
        if array.size > LARGEST:
            shape = str(array.shape)
            raise UnusableError(Words(f"an array of shape {shape}", f"形が {shape} の配列"))
        return array

    def _array(self, value: Any, may_be_list: bool) -> np.ndarray:
        array = as_array(value)
        if array is not None:
            if self.library == "numpy" and is_tensor(value):
                self._note(value)
            elif self.library == "torch" and isinstance(value, np.ndarray):
                self._note(value, array.ndim == 0)
            return array
        if isinstance(value, bool | int | float | complex):
            return np.asarray(value)
        if isinstance(value, list | tuple):
            self._note(value, may_be_list)
            return _from_list(value)
        if hasattr(value, "__array__"):
            self._note(value)
            return np.asarray(value)
        if inspect.iscoroutine(value):
            value.close()
        raise UnusableError(expected(described(value), "array"))

    def _note(self, value: Any, fine: bool = False) -> None:
        if not fine and self.foreign is None:
            self.foreign = described(value)


def _long(value: Any) -> Words:
    """What it is, and how many there are in it."""
    came = described(value)
    return Words(f"{came.en} of {len(value)}", f"長さ {len(value)} の{came.ja}")


def holds_arrays(value: Any) -> bool:
    """Whether it is a list or tuple of several arrays; one of numbers stands for an array."""
    return isinstance(value, list | tuple) and any(hasattr(each, "shape") for each in value)


def _from_list(value: list[Any] | tuple[Any, ...]) -> np.ndarray:
    try:
        return np.asarray(_plain(value))
    except (ValueError, TypeError, OverflowError):
        raise UnusableError(NO_TABLE) from None


def _plain(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    array = as_array(value)
    return value if array is None else array
