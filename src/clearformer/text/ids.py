"""Ids as arrays: the narrowest type that holds a vocabulary, and a check of what comes in."""

from collections.abc import Sequence
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np

from clearformer.errors import TokenizerError

Ids: TypeAlias = np.ndarray[Any, np.dtype[Any]]
"""A 1-D array of token ids of any integer type."""


@runtime_checkable
class StoredIds(Protocol):
    """A row of ids that need not be in memory, such as one in files."""

    def __len__(self) -> int:
        """Number of ids."""

    def __getitem__(self, part: slice, /) -> Ids:
        """The ids of one stretch, in an array of their own."""

    def rows(self, starts: Ids, length: int) -> Ids:
        """The stretches (starts, length) that begin at each of `starts`."""


LongIds: TypeAlias = Ids | StoredIds
"""A row of ids, in memory or not."""


def rows_of(ids: LongIds, starts: Ids, length: int) -> Ids:
    """The stretches (starts, length) of `ids` that begin at each of `starts`."""
    if isinstance(ids, np.ndarray):
        return ids[starts[:, None] + np.arange(length)]
    return ids.rows(starts, length)


def id_type(vocabulary: int) -> np.dtype[Any]:
    """The smallest of uint8, uint16, uint32 that holds ids 0 … vocabulary - 1.

    256 entries still fit one byte and 65,536 two: the largest id is one less than the size.
    """
    for dtype in (np.uint8, np.uint16):
        if vocabulary <= np.iinfo(dtype).max + 1:
            return np.dtype(dtype)
    return np.dtype(np.uint32)


def checked_ids(ids: Sequence[int] | Ids, vocabulary: int) -> Ids:
    """`ids` as a 1-D integer array, each known to lie in 0 … vocabulary - 1.

    NumPy alone would read id -1 as the last entry and wrap what is too large.

    Raises:
        TokenizerError: another shape, numbers that are not whole, or an id out of range.
    """
    try:
        array = np.asarray(ids)
    except (ValueError, TypeError, OverflowError) as fault:
        raise TokenizerError(f"ids must be a flat list of whole numbers; got {fault}") from None
    if array.ndim != 1:
        raise TokenizerError(f"ids must be one flat list; got an array of shape {array.shape}")
    if array.size == 0:
        return np.zeros(0, np.uint8)
    if array.dtype.kind not in "iu":
        raise TokenizerError(f"ids must be whole numbers; got {array.dtype}")
    low, high = int(array.min()), int(array.max())
    if low < 0 or high >= vocabulary:
        outside = low if low < 0 else high
        raise TokenizerError(
            f"id {outside} is outside this vocabulary of {vocabulary} (ids 0 to {vocabulary - 1})"
        )
    return array


def checked_id(id: int, vocabulary: int) -> int:
    """`id` as a plain integer in 0 … vocabulary - 1, or TokenizerError."""
    return int(checked_ids([id], vocabulary)[0])


def stretches(array: Ids, starts: Ids, lengths: Ids) -> Ids:
    """What begins at each of `starts` and has the length given for it, one after another."""
    before = np.cumsum(lengths) - lengths
    places = np.repeat(starts - before, lengths)
    places += np.arange(len(places))
    return array.take(places)
