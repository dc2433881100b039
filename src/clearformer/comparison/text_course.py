"""A text to learn from: the last tenth is for judging, and no model reads it before the end.

The search for a learning rate must not look there either, so it has a tenth of its own: the last of
what remains. A trial of the search learns from what comes before that. The vocabulary of a
tokenizer, though, is made from the whole text.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from clearformer.comparison.course import Counted, Score
from clearformer.comparison.entrants import Entrant, Reads
from clearformer.models.kind import Configuration
from clearformer.models.ngram.model import NGram
from clearformer.text.corpus import Corpus
from clearformer.text.ids import LongIds
from clearformer.text.split import split_text
from clearformer.text.tokenizer import Tokenizer, build_tokenizer
from clearformer.training.evaluation import Evaluation
from clearformer.training.judged import Judged, judged
from clearformer.training.objective import Objective, Source, Spread
from clearformer.training.objectives import objective_of
from clearformer.training.options import TrainingOptions
from clearformer.training.preparation import VALIDATION, Prepared, require_length


@dataclass(frozen=True, eq=False)
class Cut:
    """The text in the tokens of one tokenizer."""

    tokenizer: Tokenizer
    corpus: Corpus

    @cached_property
    def full(self) -> tuple[LongIds, Judged]:
        """What a full trial learns from, and is judged by."""
        learned, held_out = split_text(self.corpus.text, VALIDATION)
        return self.tokenizer.encode(learned), judged(self.tokenizer, held_out)

    @cached_property
    def search(self) -> tuple[LongIds, Judged]:
        """The same of a trial of the search."""
        learned, held_out = split_text(split_text(self.corpus.text, VALIDATION)[0], VALIDATION)
        return self.tokenizer.encode(learned), judged(self.tokenizer, held_out)


@dataclass(eq=False)
class TextGround:
    """One entrant on a text."""

    objective: Objective[Any]
    prepared: Prepared

    def loss(self, model: Any, *arguments: Any) -> Any:
        """As the kind is trained in every run."""
        return self.objective.loss(model, *arguments)

    def batches(self, options: TrainingOptions) -> Source:
        """As in every run."""
        return self.objective.batches(self.prepared, options)

    def judge(self, model: Any, spread: Spread) -> Score:
        """Over every position of the part to be judged by."""
        return _score(self.objective.evaluate(model, self.prepared.validation, spread=spread))


@dataclass(eq=False)
class TextCourse:
    """One text, cut into tokens by one or several tokenizers.

    Args:
        corpus: the text.
        context: tokens in a window.
        tokenizer: kind of tokenizer of those entrants that name none.
        vocab: at most so many tokens, for those entrants that say nothing.
    """

    name: ClassVar[str] = "text"
    reads: ClassVar[Reads] = "text"

    corpus: Corpus
    context: int
    tokenizer: str = "characters"
    vocab: int | None = None

    def __post_init__(self) -> None:
        require_length(self.corpus.characters, len(self._parts[0]))
        self._cuts: dict[tuple[str, int | None], Cut] = {}

    @cached_property
    def _parts(self) -> tuple[str, str]:
        return split_text(self.corpus.text, VALIDATION)

    def cut(self, entrant: Entrant) -> Cut:
        """The text in the tokens of an entrant."""
        key = entrant.tokenizer or self.tokenizer, entrant.vocab or self.vocab
        if key not in self._cuts:
            tokenizer = build_tokenizer(key[0], self.corpus.text, key[1])
            self._cuts[key] = Cut(tokenizer, self.corpus)
        return self._cuts[key]

    def vocabulary(self, entrant: Entrant) -> tuple[str, ...]:
        """The texts of the tokens."""
        tokenizer = self.cut(entrant).tokenizer
        return tuple(map(tokenizer.token_text, range(tokenizer.vocabulary_size)))

    def tokenizer_of(self, entrant: Entrant) -> Tokenizer:
        """Made of the whole text."""
        return self.cut(entrant).tokenizer

    def dials(self, entrant: Entrant) -> Mapping[str, Any]:
        """The context, unless the entrant has one of its own."""
        return {"context": self.context}

    def read_in_a_row(self, entrant: Entrant, configuration: Configuration) -> int:
        """A window."""
        return configuration.window

    def ground(self, entrant: Entrant, configuration: Configuration, search: bool) -> TextGround:
        """The part to learn from, and the part to be judged by."""
        cut = self.cut(entrant)
        learned, held_out = cut.search if search else cut.full
        prepared = Prepared(cut.tokenizer, learned, held_out, configuration, ())
        return TextGround(objective_of(configuration), prepared)

    def counted(self, entrant: Entrant, tokens: int | None) -> Counted:
        """The first of the part to learn from, as many tokens as the others read at most."""
        cut = self.cut(entrant)
        learned, held_out = cut.full

        def judge(model: NGram) -> Score:
            ids = np.asarray(held_out.ids)
            loss = model.loss(ids, 1)
            return _score(Evaluation(loss, len(ids) - 1, held_out.characters, held_out.spelling))

        return Counted(np.asarray(learned[:tokens]), cut.tokenizer.vocabulary_size, judge)

    def held_out(self, entrant: Entrant) -> np.ndarray:
        """The ids to be judged by."""
        return np.asarray(self.cut(entrant).full[1].ids)

    def lengths(self, entrant: Entrant) -> None:
        """There are no rows."""
        return None

    def described(self) -> Mapping[str, Any]:
        """No answer is known of a text."""
        return {
            "name": self.name,
            "settings": {},
            "answer": None,
            "measure": "bits_per_character",
            "chance": None,
            "best": None,
            "entropy": None,
            "context": self.context,
        }

    def text(self) -> Mapping[str, Any]:
        """Where it came from and how it was shared out."""
        return {
            "sources": list(self.corpus.sources),
            "characters": self.corpus.characters,
            "fingerprint": self.corpus.fingerprint,
            "trained_on": len(self._parts[0]),
            "judged_on": len(self._parts[1]),
        }


def _score(found: Evaluation) -> Score:
    return Score(found.loss, found.bits_per_character)
