"""A long text read in several rows at once, each window going on where the last has ended."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from clearformer.errors import TextError
from clearformer.tensor import Bool, Int
from clearformer.text.batches import KEYS, Block, check_windows, restored, share_of
from clearformer.text.ids import LongIds, rows_of
from clearformer.text.permutation import random_numbers


class ParallelRows:
    """Windows in the order of the text, endlessly, for models that remember what they have read.

    The text is cut into `batch` rows of equal length. A batch holds the next window of each, so
    that row b of one batch goes on in row b of the next (Williams and Peng, "An Efficient
    Gradient-Based Algorithm for On-Line Training of Recurrent Network Trajectories", 1990; in rows
    that are read side by side: Mikolov et al., 2010). At the end of the rows an epoch is over, and
    all of them begin again. What does not fill a window in every row is left out; where it lies is
    drawn anew for each epoch, so that all of the text is learned from.

    A text so short that its windows do not fill a batch is read in rows that overlap.
    """

    def __init__(
        self,
        ids: LongIds,
        context: int,
        batch: int,
        rng: np.random.Generator,
        rank: int = 0,
        ranks: int = 1,
    ) -> None:
        """One number is drawn from `rng`; all batches follow from it.

        `targets` tells how many tokens are predicted in a batch, by all processes together, and
        `mine` which rows this process gets.

        Args:
            ids: the text, in memory or not.
            context: tokens in a window.
            batch: rows, those of all processes together.
            rng: decides where rows begin.
            rank: number of this process, from 0.
            ranks: processes that share each batch.

        Raises:
            ConfigurationError: `context`, `batch` or `ranks` below 1; no such rank.
            TextError: fewer ids than context + 1.
        """
        check_windows(len(ids), context, batch)
        self.mine = share_of(batch, rank, ranks)
        self._ids, self._context, self._batch = ids, context, batch
        self._key = int(rng.integers(KEYS, dtype=np.uint64))
        self._windows = max((len(ids) - 1) // (batch * context), 1)
        self.targets = batch * context
        self._begin_epoch(0)

    @property
    def epoch(self) -> float:
        """How often the text has been seen."""
        return self._epoch + self._position / self._windows

    def next(self) -> tuple[Block, Block, Int[np.ndarray, " batch"], Bool[np.ndarray, " batch"]]:
        """Inputs and targets (batch, seq), the number of each row, and whether it begins here."""
        if self._position == self._windows:
            self._begin_epoch(self._epoch + 1)
        numbers = np.arange(self.mine.start, self.mine.stop)
        starts = self._starts[numbers] + self._position * self._context
        block = rows_of(self._ids, starts, self._context + 1).astype(np.intp)
        begins = np.full(len(numbers), self._position == 0)
        self._position += 1
        return block[:, :-1], block[:, 1:], numbers, begins

    def state(self) -> dict[str, object]:
        """All that the batches to come depend on besides the ids; plain JSON."""
        return {
            "tokens": len(self._ids),
            "context": self._context,
            "rows": self._batch,
            "key": self._key,
            "epochs": self._epoch,
            "position": self._position,
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Goes on as the batches did whose `state` this is, in any number of processes.

        Raises:
            TextError: the state is damaged, or of another text, context or number of rows.
        """
        here = {"tokens": len(self._ids), "context": self._context, "rows": self._batch}
        key, epochs, position = restored(state, here)
        if position > self._windows:
            raise TextError(
                f"the saved position {position} is not in the epoch of {self._windows} windows"
            )
        self._key = key
        self._begin_epoch(epochs)
        self._position = position

    def _begin_epoch(self, epoch: int) -> None:
        predicted = len(self._ids) - 1
        span = self._windows * self._context
        free = predicted - self._batch * span
        numbers = np.arange(self._batch, dtype=np.int64)
        if free >= 0:
            (drawn,) = random_numbers(1, self._key, epoch)
            self._starts = int(drawn) % (free + 1) + numbers * span
        else:  # one window in each row, the last of which ends with the text
            self._starts = numbers * (predicted - span) // max(self._batch - 1, 1)
        self._epoch, self._position = epoch, 0
