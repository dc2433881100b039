"""Which ranks are alive, and which of them is the one to tell of a fault.

Each counts up in a store that all can reach, and looks how far the others have counted. Where one
has ended, those that wait for it see a closed connection at best, and not whose.
"""

from typing import Any

import torch.distributed as dist

TOLD = "told"
"""Counts the ranks that had something to tell."""


class Heartbeats:
    """One rank's view of all ranks, as of the last `beat`.

    Attributes:
        told: whether any rank has begun to tell of a fault.
    """

    def __init__(self, store: Any, rank: int, ranks: int) -> None:
        """Takes a connection of its own to the store: others may wait on theirs for long."""
        self._store = dist.PrefixStore("heartbeats", store.clone())
        self._rank = rank
        self._names = [*map(str, range(ranks)), TOLD]
        self._counts = [self._store.add(name, 0) for name in self._names]
        self._silent = [0] * ranks
        self.told = False

    def beat(self) -> None:
        """Makes this rank heard, and listens to the others.

        Raises:
            RuntimeError: the store is gone.
        """
        self._store.add(self._names[self._rank], 1)
        counts = [int(count) for count in self._store.multi_get(self._names)]
        for rank, silent in enumerate(self._silent):
            self._silent[rank] = 0 if counts[rank] != self._counts[rank] else silent + 1
        self._counts, self.told = counts, counts[-1] > 0

    def missing(self, beats: int) -> list[int]:
        """The ranks that were not heard in the last `beats` beats of this one.

        In beats and not in seconds: where the whole machine was stopped, nobody is missing.
        """
        return [rank for rank, silent in enumerate(self._silent) if silent >= beats]

    def claim(self) -> bool:
        """Whether no other rank has claimed before; who is first tells, the others are silent."""
        try:
            return bool(self._store.add(TOLD, 1) == 1)
        except RuntimeError:  # the store is gone: rank 0 is as good as any
            return self._rank == 0
