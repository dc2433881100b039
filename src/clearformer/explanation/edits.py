"""Edits: what if a stage were different?"""

import json
import re
from collections.abc import Callable, Iterable, Mapping
from math import isnan, nan
from typing import Any

import numpy as np

from clearformer.errors import ConfigurationError, ShapeError
from clearformer.explanation.trace import NamedArray

Change = Any
"""A number, an array, or a function from the stage's array to another."""

Edits = tuple[tuple[str, Change], ...]

FOLLOWS_FROM = {"tokens": "ids", "attention.key_transposed": "key"}
"""Stages that are another view of one: that one is to be edited."""

_EDIT = re.compile(r"\s*([^\s=\[\]]+)\s*(?:\[([^\]]*)\])?\s*=(.*)", re.DOTALL)


def as_edits(edits: Mapping[str, Change] | Iterable[Any] | str | None) -> Edits:
    """Edits in any of the forms in which they may be given, as pairs.

    Raises:
        ConfigurationError: if a string is not an edit.
    """
    if edits is None:
        return ()
    if isinstance(edits, str):
        return (parse_edit(edits),)
    if isinstance(edits, Mapping):
        return tuple(edits.items())
    return tuple(parse_edit(edit) if isinstance(edit, str) else tuple(edit) for edit in edits)


def parse_edit(text: str) -> tuple[str, Change]:
    """`NAME=VALUE` or `NAME[i,j,…]=NUMBER`, as typed on a command line.

    VALUE is a number, which fills the stage (`inf` and `-inf` are numbers, too), or a JSON list
    that broadcasts to it. The indices name one cell; the batch axis, which has one entry, may be
    left out.

    Raises:
        ConfigurationError: if it is neither.
    """
    match = _EDIT.fullmatch(text)
    if match is None:
        raise ConfigurationError(
            f"an edit is NAME=VALUE or NAME[i,j]=NUMBER, such as "
            f"blocks.0.attention.weights[3,0]=0; got {text[:80]!r}"
        )
    name, index, value = match[1], match[2], _parse_value(match[3].strip())
    if index is None:
        return name, value
    try:
        cell = tuple(int(number) for number in index.split(","))
    except ValueError:
        raise ConfigurationError(
            f"the indices of a cell are whole numbers, such as [3,0]; got [{index[:40]}]"
        ) from None
    if not isinstance(value, int | float):
        raise ConfigurationError(f"one cell of {name} takes one number; got a list")
    return name, one_cell(name, cell, value)


def one_cell(
    name: str, cell: tuple[int, ...], value: int | float
) -> Callable[[NamedArray], np.ndarray]:
    """The change that sets one cell and leaves the others."""

    def change(array: NamedArray) -> np.ndarray:
        index = cell
        if array.axes and array.axes[0] == "batch" and len(cell) == array.ndim - 1:
            index = (0, *cell)
        fits = len(index) == array.ndim and all(
            -size <= i < size for i, size in zip(index, array.shape, strict=True)
        )
        if not fits:
            raise ShapeError(
                f"{name} is {in_words(array.axes, array.shape)}, counted from 0; "
                f"there is no cell [{','.join(map(str, cell))}]"
            )
        result = np.array(array)
        if result.dtype.kind == "i" and not isinstance(value, int):
            raise ConfigurationError(f"{name} are whole numbers; an edit must be, too")
        try:
            result[index] = value
        except OverflowError:
            raise ConfigurationError(
                f"the number for one cell of {name} is too large for {result.dtype}"
            ) from None
        return result

    return change


def changed(name: str, change: Change, shown: NamedArray) -> np.ndarray:
    """What a stage becomes: an array of the same shape and type.

    Raises:
        ShapeError: if the change does not broadcast to the shape of the stage.
        ConfigurationError: if it does not consist of numbers.
    """
    raw = change(shown) if callable(change) else change
    try:
        values = np.asarray(raw)
    except ValueError:
        values = np.empty(0, object)
    if values.dtype.kind not in "iufb":
        raise ConfigurationError(
            f"an edit of {name} must be a number, or lists of numbers of equal length"
        )
    if shown.dtype.kind == "i" and values.dtype.kind != "i":
        raise ConfigurationError(f"{name} are whole numbers; an edit must be, too")
    try:
        fitted = np.broadcast_to(values, shown.shape)
    except ValueError:
        raise ShapeError(
            f"{name} is {in_words(shown.axes, shown.shape)}; "
            f"an edit of shape {values.shape} does not fit"
        ) from None
    with np.errstate(over="ignore"):
        return fitted.astype(shown.dtype)


def in_words(axes: tuple[str, ...], shape: tuple[int, ...]) -> str:
    """(batch 1, query 4, key 4)."""
    return f"({', '.join(f'{axis} {size}' for axis, size in zip(axes, shape, strict=True))})"


def _parse_value(text: str) -> Any:
    try:
        return int(text)
    except ValueError:
        pass
    try:
        value = float(text)
    except ValueError:
        value = nan
    if not isnan(value):
        return value
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, list):
        raise ConfigurationError(
            f"the value of an edit is a number or a list such as [1,0,0]; got {text[:40]!r}"
        )
    return found
