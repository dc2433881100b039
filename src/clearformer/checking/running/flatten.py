"""From what a function returned to arrays by name; the same for an answer and for the reference.

`output` is one array; a dict becomes "cache.K" and "cache.V", a list "grads.0", "grads.1".
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from clearformer.checking.record import Library
from clearformer.checking.running.arrays import as_array, is_tensor

LARGEST = 500_000
"""More numbers than this in one array are described, not kept."""


class UnusableError(Exception):
    """What came instead of the values, in few words."""


def flatten(
    value: Any,
    returns: Sequence[str],
    *,
    like: Any = None,
    library: Library | None = None,
) -> tuple[dict[str, np.ndarray], str | None]:
    """The arrays of `value` by the names of `returns`, and what they were wrapped in if wrongly.

    Args:
        value: what was returned. A single name takes it or the first of a tuple; several take a
            tuple, list or dict in order. What comes after them is ignored.
        returns: the names, as in `Exercise.returns`.
        like: what the reference returned for the same arguments: says where a list or dict
            belongs, and where an array. Without it the structure is taken as it is.
        library: in which the answer was called, so that arrays of another one are noticed.

    Raises:
        UnusableError: there are no such arrays in it.
    """
    found: dict[str, np.ndarray] = {}
    foreign: list[str] = []
    parts = _parts(value, returns, like)
    likes = [None] * len(returns) if like is None else _parts(like, returns, None)
    for name, part, pattern in zip(returns, parts, likes, strict=True):
        _gather(name, part, pattern, library, found, foreign)
    return found, foreign[0] if foreign else None


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
        raise UnusableError(f"{described(value)} instead of {names}")
    if len(value) < len(returns):
        raise UnusableError(f"{described(value)} of {len(value)} instead of {names}")
    return list(value[: len(returns)])


def _single(value: Any, like: Any) -> Any:
    if isinstance(like, tuple) and like:
        like = like[0]
    if not isinstance(value, tuple) or not value:
        return value
    holds_all = isinstance(like, list) and len(value) == len(like)
    if holds_all and not isinstance(value[0], list | tuple):
        return value
    return value[0]


def _gather(
    name: str,
    value: Any,
    like: Any,
    library: Library | None,
    found: dict[str, np.ndarray],
    foreign: list[str],
) -> None:
    """Puts the arrays of `value` into `found`, under `name` or names that begin with it."""
    pattern = value if like is None else like
    if isinstance(pattern, Mapping):
        if not isinstance(value, Mapping):
            raise UnusableError(f"{described(value)} instead of a dict as {name}")
        for key in pattern:
            if key not in value:
                raise UnusableError(f'a dict without "{key}" as {name}')
            inner = None if like is None else like[key]
            _gather(f"{name}.{key}", value[key], inner, library, found, foreign)
    elif isinstance(pattern, list | tuple):
        members = list(value) if isinstance(value, list | tuple | np.ndarray) else None
        if members is None or len(members) != len(pattern):
            raise UnusableError(f"{described(value)} instead of a list of {len(pattern)} as {name}")
        for place, member in enumerate(members):
            inner = None if like is None else like[place]
            _gather(f"{name}.{place}", member, inner, library, found, foreign)
    else:
        found[name] = _leaf(value, library, foreign)


def _leaf(value: Any, library: Library | None, foreign: list[str]) -> np.ndarray:
    """One array; notes in `foreign` what it should not have been wrapped in."""
    array = as_array(value)
    if array is not None:
        other = {"numpy": is_tensor(value), "torch": isinstance(value, np.ndarray) and value.ndim}
        if library and other[library]:
            foreign.append(described(value))
    elif isinstance(value, bool | int | float | complex):
        array = np.asarray(value)
    elif isinstance(value, list | tuple):
        foreign.append(described(value))
        array = _from_list(value)
    elif hasattr(value, "__array__"):
        foreign.append(described(value))
        array = np.asarray(value)
    else:
        raise UnusableError(described(value))
    if array.dtype.kind not in "biufc":
        raise UnusableError(
            "an array of objects" if array.dtype.kind == "O" else "an array of text"
        )
    if array.size > LARGEST:
        raise UnusableError(f"an array of shape {array.shape}")
    return array


def _from_list(value: list[Any] | tuple[Any, ...]) -> np.ndarray:
    try:
        return np.asarray(_plain(value))
    except (ValueError, TypeError, OverflowError):
        raise UnusableError("a list that is not a table of numbers") from None


def _plain(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    array = as_array(value)
    return value if array is None else array


def described(value: Any) -> str:
    """What `value` is, in few words: "a list", "a torch.Tensor", "nothing (None)"."""
    if value is None:
        return "nothing (None)"
    if is_tensor(value):
        return "a torch.Tensor"
    if isinstance(value, np.ndarray):
        return "a numpy.ndarray"
    kind = "a class" if isinstance(value, type) else type(value).__name__[:60]
    known = {
        "str": "a text", "int": "a whole number", "float": "a number", "function": "a function",
        "bool": "a bool", "a class": "a class",
    }  # fmt: skip
    return known.get(kind) or ("an " if kind[0].lower() in "aeiou" else "a ") + kind
