"""What a task is: something to learn whose best answer is known.

There are two forms. A `SequenceTask` gives ids, for models that predict the next token: a decoder,
a recurrent model, an n-gram model. A `PairTask` gives pairs of texts, for models that read a source
and write a target; `as_sequences` turns it into a `SequenceTask`.

What either draws depends on nothing but the generator, the settings and the part. The parts `train`
and `test` never share an input, whatever the seeds and however much is drawn (see `parts`).
"""

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np

from clearformer.tensor import Int

Part = Literal["train", "test"]

Answer = Literal["position", "row"]

Block: TypeAlias = Int[np.ndarray, "rows seq"]

Pair: TypeAlias = tuple[str, str]

IGNORED = -100
"""The target where nothing is asked; `ops.cross_entropy` leaves these positions out by default."""


class SequenceTask(ABC):
    """Rows of symbols, some positions of which ask for a symbol."""

    @property
    @abstractmethod
    def name(self) -> str:
        """What it is called."""

    answer: ClassVar[Answer] = "position"
    """What one answer is: a position that is asked, or all those of a row together."""

    @property
    @abstractmethod
    def vocabulary(self) -> tuple[str, ...]:
        """The symbols; the id of each is its place."""

    @property
    @abstractmethod
    def context(self) -> int:
        """Positions in a row."""

    @property
    def chance(self) -> float | None:
        """Share of right answers of the best guess without the input; None where none is known."""
        return None

    @property
    def best(self) -> float | None:
        """Loss of the best possible predictor, in nats per position that is asked; None: unknown.

        Where the input decides the answer it is 0.
        """
        return None

    @abstractmethod
    def draw(
        self, rng: np.random.Generator, rows: int, part: Part = "train"
    ) -> tuple[Block, Block]:
        """Inputs and targets (rows, seq): the id asked for at each position, or -100 for none.

        Raises:
            ConfigurationError: there is no such part, or it has nothing.
        """

    def accuracy(self, ids: Block, targets: Block) -> float:
        """The share of answers (see `answer`) that are right; `ids` are those a model gives."""
        asked = targets != IGNORED
        right = (ids == targets) | ~asked
        if self.answer == "row":
            return float(right[asked.any(-1)].all(-1).mean())
        return float(right[asked].mean())


class PairTask(ABC):
    """Sources and the one right target of each."""

    @property
    @abstractmethod
    def name(self) -> str:
        """What it is called."""

    @property
    @abstractmethod
    def alphabet(self) -> tuple[str, ...]:
        """The characters that can occur in sources and targets, sorted."""

    @property
    @abstractmethod
    def longest(self) -> tuple[int, int]:
        """Characters of the longest source and of the longest target."""

    @property
    @abstractmethod
    def chance(self) -> float:
        """Share of exactly right targets of one who always gives the likeliest, unseen the source.

        Over both parts together; a single part differs a little, as any sample does.
        """

    @abstractmethod
    def draw(self, rng: np.random.Generator, count: int, part: Part = "train") -> list[Pair]:
        """So many pairs (source, target).

        Raises:
            ConfigurationError: there is no such part, or it has nothing.
        """


Task: TypeAlias = SequenceTask | PairTask

Settings: TypeAlias = dict[str, Any]
