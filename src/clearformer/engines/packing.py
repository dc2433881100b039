"""Sequences of different lengths laid out step by step, so that a step is rows that lie together.

The rows of a batch are put in order, the longest first. Then come all rows of step 0, all rows of
step 1 that are still there, and so on: nothing is computed for a position that is not there, and
none needs a mask. (PyTorch calls this a packed sequence.) Indices are NumPy's, for every engine.
"""

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np


@dataclass(frozen=True)
class Packing:
    """Where each position of a batch lies.

    The states of all steps lie in one array, too: `batch` initial ones first, then those after each
    packed row.
    """

    batch: int
    seq: int
    counts: np.ndarray
    """Rows at each step that anybody reaches."""
    order: np.ndarray | None = None
    """Rows of the batch, the longest first; None if all have the full length and stay as they are.
    """

    @property
    def total(self) -> int:
        """Positions that are there."""
        return int(self.counts.sum())

    @property
    def rows(self) -> np.ndarray:
        """Of each packed row, its row in the batch."""
        places = np.arange(self.batch) if self.order is None else self.order
        return np.concatenate([places[:0], *(places[:count] for count in self.counts)])

    @property
    def steps(self) -> np.ndarray:
        """Of each packed row, its position."""
        return np.repeat(np.arange(len(self.counts)), self.counts)

    @cached_property
    def slices(self) -> list[tuple[slice, slice]]:
        """Of each step, its packed rows, and the places of the states that it starts from."""
        ends = np.cumsum(self.counts)
        found, before = [], 0
        for count, end in zip(self.counts.tolist(), ends.tolist(), strict=True):
            found.append((slice(end - count, end), slice(before, before + count)))
            before = self.batch + end - count
        return found

    @property
    def before(self) -> np.ndarray | slice:
        """Of each packed row, the place among the states of the one before it."""
        if self.order is None:
            return slice(0, self.total)
        places = [np.arange(before.start, before.stop) for _, before in self.slices]
        return np.concatenate([self.order[:0], *places])

    @property
    def last(self) -> np.ndarray | slice:
        """Of each row in order, the place among the states of its last one."""
        if self.order is None:
            return slice(self.total, self.total + self.batch)
        places = np.arange(self.batch)
        for now, _ in self.slices:
            places[: now.stop - now.start] = np.arange(now.start, now.stop) + self.batch
        return places

    @property
    def back(self) -> np.ndarray:
        """Puts rows in order back into their places: the inverse of `order`."""
        return np.arange(self.batch) if self.order is None else np.argsort(self.order)


def packing(batch: int, seq: int, lengths: np.ndarray | None) -> Packing:
    """How sequences of these lengths are laid out; None: all of them have the length `seq`."""
    if lengths is None or (lengths == seq).all():
        return _full(batch, seq)
    reached = np.arange(lengths.max())
    counts = (lengths[:, None] > reached).sum(0)
    return Packing(batch, seq, counts, np.argsort(-lengths.astype(np.int64), kind="stable"))


@lru_cache(maxsize=8)
def _full(batch: int, seq: int) -> Packing:
    """Kept, because a run has the same batch at every step."""
    return Packing(batch, seq, np.full(seq, batch))
