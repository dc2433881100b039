"""Batches of pairs, endlessly, in a random order of which each place is computed."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from clearformer.errors import ConfigurationError, TextError
from clearformer.tensor import Int
from clearformer.text.batches import IGNORED, KEYS
from clearformer.text.pair_ids import PairIds, side_by_side
from clearformer.text.permutation import ROUNDS, Permutation, random_numbers


class PairBatches:
    """Random pairs; every pair once per epoch. A batch may span two epochs.

    Of several processes that train together each makes the same batches and takes its own rows of
    them. What is drawn depends on the key and the place in the order alone.

    Attributes:
        targets: tokens that are predicted in the last batch, by all processes together.
    """

    def __init__(
        self,
        pairs: PairIds,
        batch: int,
        rng: np.random.Generator,
        *,
        begin: int,
        end: int,
        forcing: float = 1.0,
        rank: int = 0,
        ranks: int = 1,
    ) -> None:
        """One number is drawn from `rng`; all batches follow from it.

        Args:
            pairs: at least one.
            batch: pairs in a batch, those of all processes together.
            rng: decides the order.
            begin: the mark before a target.
            end: the mark after a source or a target.
            forcing: how often the model is told the right token before, instead of its own choice.
            rank: number of this process, from 0.
            ranks: processes that share each batch.

        Raises:
            ConfigurationError: `batch` below 1, or no such rank.
            TextError: there are no pairs.
        """
        if batch < 1:
            raise ConfigurationError(f"batch must be at least 1; got {batch}")
        if not 0 <= rank < ranks:
            raise ConfigurationError(f"expected a rank from 0 to below {ranks} ranks; got {rank}")
        if not len(pairs):
            raise TextError("there are no pairs to learn from; give at least one")
        self._pairs, self._batch, self._forcing = pairs, batch, forcing
        self._marks = begin, end
        self._mine = slice(batch * rank // ranks, batch * (rank + 1) // ranks)
        self._key = int(rng.integers(KEYS, dtype=np.uint64))
        self.targets = 0
        self._begin_epoch(0)

    def next(self) -> tuple[np.ndarray, ...]:
        """The arrays of one batch, the rows of this process first in each.

        Returns:
            sources (rows, source), each with its end, filled up with ends; their lengths (rows,);
            inputs (rows, target), the begin and the target; targets (rows, target), the target and
            its end, then -100; whether each input is given (rows, target), or the model's own
            choice stands in its place; and how many targets a row of the whole batch has on
            average (rows,), the same number in each.
        """
        begin, end = self._marks
        place = self._epoch, self._position
        numbers = self._numbers()
        sources, targets = self._pairs.sources, self._pairs.targets
        counts = targets.lengths[numbers] + 1
        self.targets = int(counts.sum())
        mine = numbers[self._mine].tolist()
        read, lengths = side_by_side([sources.text(n) for n in mine], end)
        told, counted = side_by_side([targets.text(n) for n in mine], end, begin)
        wanted, _ = side_by_side([targets.text(n) for n in mine], end)
        wanted[np.arange(told.shape[1]) >= counted[:, None]] = IGNORED
        given = self._given(place, int(counts.max()))[self._mine, : told.shape[1]]
        average = np.full(len(mine), self.targets / self._batch)
        return read, lengths, told, wanted, given, average

    def state(self) -> dict[str, object]:
        """All that the batches to come depend on besides pairs and batch; plain JSON."""
        return {
            "pairs": len(self._pairs),
            "key": self._key,
            "epochs": self._epoch,
            "position": self._position,
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Goes on as the batches did whose `state` this is, in any number of processes.

        Raises:
            TextError: the state is damaged, or of other pairs.
        """
        found: dict[str, int] = {}
        for name in self.state():
            value = state.get(name)
            if type(value) is not int or value < 0:
                raise TextError(f"the saved position among the pairs is damaged: {name} {value!r}")
            found[name] = value
        if found["pairs"] != len(self._pairs):
            raise TextError(
                f"the saved position is among {found['pairs']} pairs; here are {len(self._pairs)}"
            )
        if found["key"] >= KEYS or found["position"] > len(self._pairs):
            raise TextError("the saved position among the pairs is damaged: there is no such one")
        self._key = found["key"]
        self._begin_epoch(found["epochs"])
        self._position = found["position"]

    def _begin_epoch(self, epoch: int) -> None:
        self._order = Permutation(len(self._pairs), random_numbers(ROUNDS, self._key, epoch))
        self._epoch, self._position = epoch, 0

    def _numbers(self) -> Int[np.ndarray, " batch"]:
        """The pairs of the next batch, those of all processes."""
        parts, wanted = [], self._batch
        while wanted:
            if self._position == len(self._order):
                self._begin_epoch(self._epoch + 1)
            drawn = min(wanted, len(self._order) - self._position)
            parts.append(self._order.at(np.arange(self._position, self._position + drawn)))
            self._position += drawn
            wanted -= drawn
        return np.concatenate(parts)

    def _given(self, place: tuple[int, int], longest: int) -> np.ndarray:
        """Which inputs (batch, target) are given; the first, the begin, always is."""
        given = np.ones((self._batch, longest), bool)
        if self._forcing < 1:
            drawn = np.random.default_rng([self._key, *place]).random((self._batch, longest - 1))
            given[:, 1:] = drawn < self._forcing
        return given
