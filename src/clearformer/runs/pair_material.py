"""Pairs as what a run is trained on: from files, or drawn from a task."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from clearformer.models.kind import Configuration
from clearformer.runs.text_material import DEFAULT_TOKENIZER
from clearformer.text.pairs import Pair, Pairs
from clearformer.text.tokenizer import Tokenizer
from clearformer.training.judged import Judged
from clearformer.training.judged_pairs import judged_pairs
from clearformer.training.options import TrainingOptions
from clearformer.training.pair_preparation import Place, prepare_pairs, prepared_pairs_again
from clearformer.training.preparation import ModelFor, Prepared


class PairMaterial(ABC):
    """Pairs to learn from, and pairs to be judged by."""

    @property
    @abstractmethod
    def fingerprint(self) -> str:
        """SHA-256 of all pairs."""

    @property
    @abstractmethod
    def shown(self) -> str:
        """For a message."""

    @property
    @abstractmethod
    def notes(self) -> tuple[str, ...]:
        """What was noticed when they were read."""

    @property
    @abstractmethod
    def name(self) -> str:
        """What a run on them is called."""

    @abstractmethod
    def recorded(self) -> dict[str, Any]:
        """What run.json keeps of them, so that they can be found again."""

    @property
    @abstractmethod
    def train(self) -> Sequence[Pair]:
        """To learn from."""

    @property
    @abstractmethod
    def held_out(self) -> Sequence[Pair]:
        """To be judged by; none of them has a source that is learned from."""

    @property
    @abstractmethod
    def all(self) -> Sequence[Pair]:
        """To be judged by where all of them are a stranger's."""

    @property
    @abstractmethod
    def places(self) -> tuple[Place, Place]:
        """Say where a pair of `train` stands, and one of `held_out`."""

    @abstractmethod
    def place(self, number: int) -> str:
        """Where a pair of `all` stands."""

    @property
    def characters_to_cut(self) -> int:
        """Characters that still have to be made tokens of."""
        return sum(len(source) + len(target) for source, target in self.all)

    def prepared(
        self,
        kind: str | None,
        vocabulary: int | None,
        model: ModelFor,
        options: TrainingOptions,
        fits: Callable[[Configuration], None],
    ) -> Prepared:
        """Everything a new run needs: makes tokenizer and ids.

        Raises:
            TextError: there is nothing that could be trained on, or a pair is too long.
            ConfigurationError: the sizes are impossible, or larger than the machine.
        """
        return prepare_pairs(
            self.train,
            self.held_out,
            self.places,
            kind=kind or DEFAULT_TOKENIZER,
            vocabulary=vocabulary,
            model=model,
            fits=fits,
            notes=self.notes,
        )

    def prepared_again(
        self, tokenizer: Tokenizer, model: Configuration, notes: Sequence[str]
    ) -> Prepared:
        """The same for a run that goes on: makes the ids."""
        told = (*self.notes, *notes)
        return prepared_pairs_again(self.train, self.held_out, tokenizer, model, told)

    def validation(self, tokenizer: Tokenizer) -> Judged:
        """Those that are held out."""
        return judged_pairs(tokenizer, self.held_out)

    def to_be_judged(self, tokenizer: Tokenizer) -> Judged:
        """All."""
        return judged_pairs(tokenizer, self.all)


@dataclass(frozen=True, eq=False)
class PairFilesMaterial(PairMaterial):
    """Pairs from files, or given directly."""

    pairs: Pairs
    files: tuple[str, ...]
    """Full paths, where they were read from files."""
    encoding: str

    @property
    def fingerprint(self) -> str:
        """SHA-256 of the lines."""
        return self.pairs.fingerprint

    @property
    def shown(self) -> str:
        """The names of the files."""
        return ", ".join(self.pairs.files)

    @property
    def notes(self) -> tuple[str, ...]:
        """What was noticed when they were read."""
        return self.pairs.notes

    @property
    def name(self) -> str:
        """That of the first file."""
        return Path(self.pairs.files[0]).stem

    def recorded(self) -> dict[str, Any]:
        """The files."""
        return {
            "sources": list(self.pairs.files),
            "files": list(self.files),
            "encoding": self.encoding,
            "pairs": len(self.pairs),
            "characters": self.pairs.characters,
            "fingerprint": self.fingerprint,
        }

    @property
    def train(self) -> Sequence[Pair]:
        """About nine sources in ten."""
        return self._chosen(0)

    @property
    def held_out(self) -> Sequence[Pair]:
        """The others."""
        return self._chosen(1)

    @property
    def all(self) -> Sequence[Pair]:
        """Every pair."""
        return self.pairs.pairs

    def place(self, number: int) -> str:
        """File and line."""
        return self.pairs.place(number)

    @property
    def places(self) -> tuple[Place, Place]:
        """File and line."""
        train, held_out = self._parts
        return (
            lambda number: self.place(int(train[number])),
            lambda number: self.place(int(held_out[number])),
        )

    @cached_property
    def _parts(self) -> tuple[np.ndarray, np.ndarray]:
        return self.pairs.split()

    def _chosen(self, part: int) -> list[Pair]:
        return [self.pairs.pairs[number] for number in self._parts[part].tolist()]
