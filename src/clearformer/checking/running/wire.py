"""How a record crosses from one process to another: a line of JSON, then raw arrays.

Nothing is pickled, and what arrives is only believed as far as it fits the types: an answer can
write to this pipe too.
"""

import dataclasses
import json
import math
import types
import typing
from collections.abc import Mapping, Sequence
from typing import Any, BinaryIO

import numpy as np

LONGEST_LINE = 4 * 2**20
MOST_BYTES = 2**28
"""Of arrays in one message."""


class GarbageError(Exception):
    """What came is not a message."""


def send(stream: BinaryIO, kind: str, content: Any) -> None:
    """Writes one message: dataclasses, mappings, sequences, texts, numbers and arrays."""
    arrays: list[np.ndarray] = []
    line = json.dumps({"kind": kind, "content": _plain(content, arrays)})
    stream.write(line.encode("ascii") + b"\n")
    for array in arrays:
        stream.write(array.tobytes())
    stream.flush()


def _plain(value: Any, arrays: list[np.ndarray]) -> Any:
    if isinstance(value, np.ndarray):
        arrays.append(value)
        return {"dtype": value.dtype.str, "shape": list(value.shape)}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = dataclasses.fields(value)
        return {each.name: _plain(getattr(value, each.name), arrays) for each in fields}
    if isinstance(value, Mapping):
        return {key: _plain(each, arrays) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each, arrays) for each in value]
    return value


def receive(stream: BinaryIO, kinds: Mapping[str, Any]) -> tuple[str, Any] | None:
    """The next message, its content as the type that `kinds` has for its kind; None at the end.

    Raises:
        GarbageError: anything else came.
    """
    line = stream.readline(LONGEST_LINE)
    if not line:
        return None
    try:
        message = json.loads(line)
        kind = message["kind"]
        return kind, _Reader(stream).built(message["content"], kinds[kind])
    except (ValueError, TypeError, KeyError, LookupError, RecursionError, AttributeError) as error:
        raise GarbageError(str(error)) from error


class _Reader:
    """Builds values of known types from JSON and the arrays that follow it."""

    def __init__(self, stream: BinaryIO):
        self.stream = stream
        self.room = MOST_BYTES

    def built(self, plain: Any, hint: Any) -> Any:
        """`plain` as `hint` has it; ValueError if it is not like that."""
        origin, inner = typing.get_origin(hint), typing.get_args(hint)
        if origin in (types.UnionType, typing.Union):
            return self._one_of(plain, inner)
        if origin is typing.Literal:
            return _checked(plain, plain in inner)
        if hint is np.ndarray:
            return self._array(plain)
        if origin is Mapping:
            _checked(plain, isinstance(plain, dict))
            return {key: self.built(each, inner[1]) for key, each in plain.items()}
        if origin is Sequence:
            _checked(plain, isinstance(plain, list))
            return tuple(self.built(each, inner[0]) for each in plain)
        if isinstance(hint, type) and issubclass(hint, tuple):
            return hint(*(_checked(each, isinstance(each, str)) for each in plain))
        if dataclasses.is_dataclass(hint):
            return self._dataclass(plain, hint)
        number = hint is float and isinstance(plain, int)
        return _checked(plain, number or type(plain) is hint)

    def _one_of(self, plain: Any, hints: tuple[Any, ...]) -> Any:
        """The one type beside None."""
        if plain is None and type(None) in hints:
            return None
        (hint,) = (each for each in hints if each is not type(None))
        return self.built(plain, hint)

    def _dataclass(self, plain: Any, hint: Any) -> Any:
        hints = typing.get_type_hints(hint)
        _checked(plain, isinstance(plain, dict) and plain.keys() == hints.keys())
        return hint(**{name: self.built(plain[name], hints[name]) for name in plain})

    def _array(self, plain: Any) -> np.ndarray:
        dtype, shape = np.dtype(plain["dtype"]), plain["shape"]
        _checked(dtype, dtype.kind in "biufc")
        _checked(shape, all(type(each) is int and each >= 0 for each in shape))
        size = math.prod(shape) * dtype.itemsize
        self.room -= size
        _checked(size, self.room >= 0)
        data = self.stream.read(size)
        _checked(data, len(data) == size)
        return np.frombuffer(data, dtype).reshape(shape).copy()


def _checked(value: Any, holds: bool) -> Any:
    if not holds:
        raise ValueError(f"not expected: {str(value)[:80]}")
    return value
