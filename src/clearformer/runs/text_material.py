"""A text in memory, as what a run is trained on."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from clearformer.models.kind import Configuration
from clearformer.text.corpus import Corpus
from clearformer.text.split import split_text
from clearformer.text.tokenizer import Tokenizer
from clearformer.training.judged import Judged, judged
from clearformer.training.options import TrainingOptions
from clearformer.training.preparation import VALIDATION, ModelFor, Prepared, prepare

DEFAULT_TOKENIZER = "characters"


@dataclass(frozen=True, eq=False)
class TextMaterial:
    """A text in memory."""

    corpus: Corpus
    files: tuple[str, ...]
    """Full paths, where it was read from files."""

    encoding: str
    name: str
    """What a run on it is called."""

    @property
    def fingerprint(self) -> str:
        """SHA-256 of the text."""
        return self.corpus.fingerprint

    @property
    def shown(self) -> str:
        """For a message."""
        return ", ".join(self.corpus.sources)

    @property
    def notes(self) -> tuple[str, ...]:
        """What was noticed when it was read."""
        return self.corpus.notes

    @property
    def characters_to_cut(self) -> int:
        """Characters that still have to be made tokens of."""
        return self.corpus.characters

    def recorded(self) -> dict[str, Any]:
        """What run.json keeps of it, so that it can be found again."""
        return {
            "sources": list(self.corpus.sources),
            "files": list(self.files),
            "encoding": self.encoding,
            "characters": self.corpus.characters,
            "fingerprint": self.fingerprint,
        }

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
            TextError: there is nothing that could be trained on.
            ConfigurationError: the sizes are impossible, or larger than the machine.
        """
        return prepare(
            self.corpus,
            kind=kind or DEFAULT_TOKENIZER,
            vocabulary=vocabulary,
            model=model,
            options=options,
            fits=fits,
        )

    def prepared_again(
        self, tokenizer: Tokenizer, model: Configuration, notes: Sequence[str]
    ) -> Prepared:
        """The same for a run that goes on: makes the ids."""
        train_text, validation_text = split_text(self.corpus.text, VALIDATION)
        return Prepared(
            tokenizer,
            tokenizer.encode(train_text),
            judged(tokenizer, validation_text),
            model,
            (*self.notes, *notes),
        )

    def validation(self, tokenizer: Tokenizer) -> Judged:
        """The end of the text."""
        return judged(tokenizer, split_text(self.corpus.text, VALIDATION)[1])

    def to_be_judged(self, tokenizer: Tokenizer) -> Judged:
        """All of the text."""
        return judged(tokenizer, self.corpus.text)
