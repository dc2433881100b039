"""What entrants learn from and are judged by: a text or a task, in the form that each one reads."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import log
from typing import Any, Protocol

import numpy as np

from clearformer.comparison.entrants import Entrant, Reads
from clearformer.models.kind import Configuration
from clearformer.models.measures import perplexity_of
from clearformer.text.tokenizer import Tokenizer
from clearformer.training.objective import Source, Spread
from clearformer.training.options import TrainingOptions


@dataclass(frozen=True)
class Score:
    """How well a model did on what it has not learned from."""

    loss: float
    """Nats per token that is asked."""
    bits_per_character: float
    accuracy: float | None = None

    @property
    def perplexity(self) -> float:
        """exp(loss)."""
        return perplexity_of(self.loss)


def score_of_symbols(loss: float, accuracy: float) -> Score:
    """A score where every token is a symbol, so that bits per character are bits per symbol."""
    return Score(loss, loss / log(2), accuracy)


class Ground(Protocol):
    """What one entrant learns from in one trial, and is judged by after it."""

    def loss(self, model: Any, *arguments: Any) -> Any:
        """The mean loss of rows of a batch; see `Objective`."""

    def batches(self, options: TrainingOptions) -> Source:
        """What it learns from, in an order that the seed decides."""

    def judge(self, model: Any, spread: Spread) -> Score:
        """How well it does on what it has not learned from."""


@dataclass(frozen=True)
class Counted:
    """What an n-gram model counts, and is judged by."""

    ids: np.ndarray
    vocabulary: int
    judge: Any
    """judge(model) → Score."""


class Course(Protocol):
    """A text, or a task."""

    @property
    def name(self) -> str:
        """Of the task."""

    @property
    def reads(self) -> Reads:
        """What it gives."""

    def vocabulary(self, entrant: Entrant) -> tuple[str, ...]:
        """What each id is to this entrant, as a person is shown it."""

    def tokenizer_of(self, entrant: Entrant) -> Tokenizer | None:
        """What cuts the text for this entrant; None in a task."""

    def dials(self, entrant: Entrant) -> Mapping[str, Any]:
        """What a configuration needs to read it, such as a context."""

    def read_in_a_row(self, entrant: Entrant, configuration: Configuration) -> int:
        """Tokens that count as read with each row of a batch."""

    def ground(self, entrant: Entrant, configuration: Configuration, search: bool) -> Ground:
        """For a full trial; or for one of the search, which is judged by a part of its own."""

    def counted(self, entrant: Entrant, tokens: int | None) -> Counted:
        """What counting sees: at most so many tokens."""

    def held_out(self, entrant: Entrant) -> np.ndarray:
        """Ids that are judged by: of a text (seq), of a task (rows, seq)."""

    def lengths(self, entrant: Entrant) -> np.ndarray | None:
        """Of those of a task (rows): ids up to the last position that is asked; None of a text.

        What follows in a row asks nothing: an end mark and padding.
        """

    def described(self) -> Mapping[str, Any]:
        """The task, as the document has it."""

    def text(self) -> Mapping[str, Any]:
        """The text, as the document has it; empty for a task."""
