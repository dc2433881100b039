"""Windows of a long row of ids: in random order to learn from, in order to be judged by."""

from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

import numpy as np

from clearformer.errors import ConfigurationError, TextError
from clearformer.tensor import Int
from clearformer.text.ids import Ids

Block: TypeAlias = Int[np.ndarray, "batch seq"]


class Batches:
    """Random windows, endlessly; every position about once per epoch.

    An epoch draws a phase p and visits the windows that start at p, p + context, p + 2·context, …
    in random order. They do not overlap, so no text is seen twice before all of it is seen once;
    the phase, new in each epoch, makes every start possible. A batch may span two epochs.

    A window at start s reads `context` ids from s and predicts the ids one further, the last of
    which is at s + context. That must be at most tokens - 1, so starts are 0 … tokens - context - 1
    and the exclusive bound is tokens - context, not one less.
    """

    def __init__(self, ids: Ids, context: int, batch: int, rng: np.random.Generator) -> None:
        """`rng` belongs to these batches alone: its state is part of theirs.

        Raises:
            ConfigurationError: `context` or `batch` below 1.
            TextError: fewer ids than context + 1.
        """
        _check_sizes(context, batch)
        if len(ids) < context + 1:
            raise TextError(
                f"a window of context {context} needs {context + 1} tokens; the text has "
                f"{len(ids)}; give a longer text or a context of at most {max(len(ids) - 1, 1)}"
            )
        self._ids = ids
        self._context = context
        self._batch = batch
        self._rng = rng
        self._epochs = 0
        self._begin_epoch()

    @property
    def epoch(self) -> float:
        """How often the text has been seen."""
        return self._epochs + self._position / len(self._starts)

    def next(self) -> tuple[Block, Block]:
        """Inputs and targets (batch, seq); `targets[b, t]` follows `inputs[b, t]` in the text."""
        starts = np.concatenate(list(self._drawn(self._batch)))
        block = self._ids[starts[:, None] + np.arange(self._context + 1)].astype(np.intp)
        return block[:, :-1], block[:, 1:]

    def state(self) -> dict[str, object]:
        """All that the batches to come depend on besides ids, context and batch; plain JSON."""
        return {
            "tokens": len(self._ids),
            "context": self._context,
            "epochs": self._epochs,
            "position": self._position,
            "epoch_generator": self._epoch_generator,
            "generator": _plain(self._rng.bit_generator.state),
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Goes on as the batches did whose `state` this is.

        Raises:
            TextError: the state is damaged, or of another text, context or kind of generator.
        """
        try:
            tokens, context, epochs, position = (
                _whole(state[name]) for name in ("tokens", "context", "epochs", "position")
            )
            if (tokens, context) != (len(self._ids), self._context):
                raise TextError(
                    f"the saved position is of a text of {tokens} tokens and context {context}; "
                    f"here are {len(self._ids)} tokens and context {self._context}"
                )
            self._rng.bit_generator.state = state["epoch_generator"]
            self._begin_epoch()
            self._rng.bit_generator.state = state["generator"]
        except (KeyError, TypeError, ValueError, OverflowError, IndexError) as fault:
            if isinstance(fault, TextError):
                raise
            raise TextError(f"the saved position in the text is damaged ({fault!r})") from None
        if not 0 <= position <= len(self._starts):
            raise TextError(
                f"the saved position {position} is not in the epoch of {len(self._starts)} windows"
            )
        self._epochs, self._position = epochs, position

    def _begin_epoch(self) -> None:
        self._epoch_generator = _plain(self._rng.bit_generator.state)
        bound = len(self._ids) - self._context
        phase = int(self._rng.integers(min(self._context, bound)))
        self._starts = self._rng.permutation(np.arange(phase, bound, self._context))
        self._position = 0

    def _drawn(self, wanted: int) -> Iterator[Ids]:
        while wanted:
            if self._position == len(self._starts):
                self._epochs += 1
                self._begin_epoch()
            drawn = self._starts[self._position : self._position + wanted]
            self._position += len(drawn)
            wanted -= len(drawn)
            yield drawn


def windows(ids: Ids, context: int, batch: int) -> Iterator[tuple[Block, Block, int]]:
    """Inputs, targets (batch, seq) and their number, over every position of `ids` once, in order.

    The windows do not overlap and leave nothing out: tokens - 1 predictions in all. The last,
    shorter one comes in a batch of its own, so that nothing is padded.

    Raises:
        ConfigurationError: `context` or `batch` below 1.
        TextError: fewer than two ids, so that there is nothing to predict.
    """
    _check_sizes(context, batch)
    if len(ids) < 2:
        raise TextError(f"an evaluation needs at least 2 tokens; the text has {len(ids)}")
    return _in_order(ids, context, batch)


def _in_order(ids: Ids, context: int, batch: int) -> Iterator[tuple[Block, Block, int]]:
    predictions = len(ids) - 1
    whole = predictions // context
    for first in range(0, whole, batch):
        rows = min(batch, whole - first)
        part = ids[first * context : (first + rows) * context + 1].astype(np.intp)
        yield part[:-1].reshape(rows, context), part[1:].reshape(rows, context), rows * context
    if predictions % context:
        part = ids[whole * context :].astype(np.intp)
        yield part[None, :-1], part[None, 1:], predictions % context


def _check_sizes(context: int, batch: int) -> None:
    for name, size in (("context", context), ("batch", batch)):
        if size < 1:
            raise ConfigurationError(f"{name} must be at least 1; got {size}")


def _plain(value: Any) -> Any:
    """A bit generator's state with lists for arrays and Python's own numbers."""
    if isinstance(value, dict):
        return {name: _plain(member) for name, member in value.items()}
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else value


def _whole(value: object) -> int:
    if type(value) is not int or value < 0:
        raise TypeError(f"{value!r} is not a whole number")
    return value
