"""Windows of a long row of ids: in random order to learn from, in order to be judged by."""

from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from clearformer.errors import ConfigurationError, TextError
from clearformer.tensor import Int
from clearformer.text.ids import Ids, LongIds, rows_of
from clearformer.text.permutation import ROUNDS, Permutation, random_numbers

Block: TypeAlias = Int[np.ndarray, "batch seq"]

KEYS = 2**64
"""So many different orders a text can be read in."""

IGNORED = -100
"""A target that does not count; `ops.cross_entropy` leaves these out."""

AHEAD = 1024
"""Windows whose order is computed at once: that takes hardly longer than for one batch."""


class Batches:
    """Random windows, endlessly; every position about once per epoch.

    An epoch draws a phase p and visits the windows that start at p, p + context, p + 2·context, …
    in random order. They do not overlap, so no text is seen twice before all of it is seen once;
    the phase, new in each epoch, makes every start possible. A batch may span two epochs.

    A window at start s reads `context` ids from s and predicts the ids one further, the last of
    which is at s + context. That must be at most tokens - 1, so starts are 0 … tokens - context - 1
    and the exclusive bound is tokens - context, not one less.

    The order is computed where it is needed (see `permutation`), so that ids may be in files much
    larger than the memory. Of several processes that train together each makes the same batches
    and takes its own rows of them; the batches do not depend on how many processes there are.
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
            batch: windows in a batch, those of all processes together.
            rng: decides the order.
            rank: number of this process, from 0.
            ranks: processes that share each batch.

        Raises:
            ConfigurationError: `context`, `batch` or `ranks` below 1; no such rank.
            TextError: fewer ids than context + 1.
        """
        check_windows(len(ids), context, batch)
        self.mine = share_of(batch, rank, ranks)
        self._ids = ids
        self._context = context
        self._batch = batch
        self._key = int(rng.integers(KEYS, dtype=np.uint64))
        self.targets = batch * context
        self._begin_epoch(0)

    @property
    def epoch(self) -> float:
        """How often the text has been seen."""
        return self._epoch + self._position / len(self._order)

    @property
    def place(self) -> tuple[int, int, int]:
        """Numbers that no other batch has, nor one of another order."""
        return self._key, self._epoch, self._position

    def next(self) -> tuple[Block, Block]:
        """Inputs and targets (batch, seq); `targets[b, t]` follows `inputs[b, t]` in the text.

        Of several processes each gets its rows, all of them about equally many, perhaps none.
        """
        starts = np.concatenate(list(self._my_starts()))
        block = rows_of(self._ids, starts, self._context + 1).astype(np.intp)
        return block[:, :-1], block[:, 1:]

    def state(self) -> dict[str, object]:
        """All that the batches to come depend on besides ids, context and batch; plain JSON."""
        return {
            "tokens": len(self._ids),
            "context": self._context,
            "key": self._key,
            "epochs": self._epoch,
            "position": self._position,
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Goes on as the batches did whose `state` this is, in any number of processes.

        Raises:
            TextError: the state is damaged, or of another text or context.
        """
        here = {"tokens": len(self._ids), "context": self._context}
        key, epochs, position = restored(state, here)
        self._key = key
        self._begin_epoch(epochs)
        if position > len(self._order):
            raise TextError(
                f"the saved position {position} is not in the epoch of {len(self._order)} windows"
            )
        self._position = position

    def _begin_epoch(self, epoch: int) -> None:
        numbers = random_numbers(ROUNDS + 1, self._key, epoch)
        bound = len(self._ids) - self._context
        self._phase = int(numbers[-1]) % min(self._context, bound)
        windows = len(range(self._phase, bound, self._context))
        self._order = Permutation(windows, numbers[:-1])
        self._epoch, self._position = epoch, 0
        self._ahead, self._ahead_from = np.zeros(0, np.int64), 0

    def _my_starts(self) -> Iterator[Ids]:
        """Where the windows of this process begin, in one piece per epoch of the next batch."""
        row = 0
        while row < self._batch:
            if self._position == len(self._order):
                self._begin_epoch(self._epoch + 1)
            drawn = min(self._batch - row, len(self._order) - self._position)
            first = max(row, self.mine.start)
            last = max(first, min(row + drawn, self.mine.stop))
            place = self._position - row
            yield self._phase + self._context * self._numbers(place + first, place + last)
            self._position += drawn
            row += drawn

    def _numbers(self, begin: int, end: int) -> Ids:
        """The numbers of the windows at some places of the order; many are computed at once."""
        known = range(self._ahead_from, self._ahead_from + len(self._ahead))
        if begin < end and not (begin in known and end - 1 in known):
            last = min(max(end, begin + AHEAD), len(self._order))
            self._ahead, self._ahead_from = self._order.at(np.arange(begin, last)), begin
        offset = begin - self._ahead_from
        return self._ahead[offset : offset + end - begin] if begin < end else self._ahead[:0]


def windows(
    ids: LongIds, context: int, batch: int, stride: int | None = None
) -> Iterator[tuple[Block, Block, int]]:
    """Inputs, targets (batch, seq) and their number, over every position of `ids` once, in order.

    Nothing is left out: tokens - 1 predictions in all. The last, shorter window comes in a batch of
    its own, so that nothing is padded.

    Unless a stride is given the windows do not overlap. Else each begins `stride` tokens after the
    one before it, and what that one has predicted already does not count again: its targets are
    IGNORED. Then every token is predicted from at least `context - stride` tokens before it, but
    those at the beginning of the text.

    Raises:
        ConfigurationError: `context` or `batch` below 1, a stride that is not from 1 to `context`.
        TextError: fewer than two ids, so that there is nothing to predict.
    """
    _check_sizes(context, batch)
    stride = context if stride is None else stride
    if not 1 <= stride <= context:
        raise ConfigurationError(
            f"stride must be from 1 to the context of {context}: a longer one leaves tokens out; "
            f"got {stride}"
        )
    if len(ids) < 2:
        raise TextError(f"an evaluation needs at least 2 tokens; the text has {len(ids)}")
    return _in_order(ids, context, batch, stride)


def _in_order(
    ids: LongIds, context: int, batch: int, stride: int
) -> Iterator[tuple[Block, Block, int]]:
    predictions, again = len(ids) - 1, context - stride
    whole = max((predictions - again) // stride, 0)
    for first in range(0, whole, batch):
        rows = min(batch, whole - first)
        part = ids[first * stride : (first + rows - 1) * stride + context + 1].astype(np.intp)
        yield _counted(sliding_window_view(part, context + 1)[::stride], again, first == 0)
    if predictions > whole * stride + again * (whole > 0):
        part = ids[whole * stride :].astype(np.intp)
        yield _counted(part[None], again, whole == 0)


def _counted(
    rows: Int[np.ndarray, "batch seq_1"], again: int, begins: bool
) -> tuple[Block, Block, int]:
    """Inputs, and targets of which the first `again` do not count; but where the text begins."""
    inputs, targets = np.ascontiguousarray(rows[:, :-1]), rows[:, 1:].copy()
    targets[int(begins) :, :again] = IGNORED
    return inputs, targets, targets.size - again * (len(rows) - begins)


def check_windows(tokens: int, context: int, batch: int) -> None:
    """Refuses a text of so many tokens without one whole window.

    Raises:
        ConfigurationError: `context` or `batch` below 1.
        TextError: it is too short.
    """
    _check_sizes(context, batch)
    if tokens < context + 1:
        raise TextError(
            f"a window of context {context} needs {context + 1} tokens; the text has "
            f"{tokens}; give a longer text or a context of at most {max(tokens - 1, 1)}"
        )


def share_of(batch: int, rank: int, ranks: int) -> range:
    """The rows of a batch that one of several processes gets.

    Raises:
        ConfigurationError: there is no such rank.
    """
    if not 0 <= rank < ranks:
        raise ConfigurationError(f"expected a rank from 0 to below {ranks} ranks; got {rank}")
    return range(batch * rank // ranks, batch * (rank + 1) // ranks)


def restored(state: Mapping[str, Any], here: Mapping[str, int]) -> tuple[int, int, int]:
    """Key, epochs and position of a saved state, which must be of the sizes that are `here`.

    Raises:
        TextError: it is damaged, or of other sizes.
    """
    try:
        there = {name: _whole(state[name]) for name in here}
        key, epochs, position = (_whole(state[name]) for name in ("key", "epochs", "position"))
    except (KeyError, TypeError) as fault:
        raise TextError(f"the saved position in the text is damaged ({fault!r})") from None
    if there != here:
        saved, found = (", ".join(f"{n} {v}" for n, v in each.items()) for each in (there, here))
        raise TextError(f"the saved position is of {saved}; here are {found}")
    if key >= KEYS:
        raise TextError(f"the saved position is damaged: no key is as large as {key}")
    return key, epochs, position


def _check_sizes(context: int, batch: int) -> None:
    for name, size in (("context", context), ("batch", batch)):
        if size < 1:
            raise ConfigurationError(f"{name} must be at least 1; got {size}")


def _whole(value: object) -> int:
    if type(value) is not int or value < 0:
        raise TypeError(f"{value!r} is not a whole number")
    return value
