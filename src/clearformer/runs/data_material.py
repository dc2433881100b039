"""A prepared text, a folder of ids, as what a run is trained on; all as for a text in memory."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from clearformer.corpora.data_folder import Data
from clearformer.errors import ConfigurationError, TextError
from clearformer.models.kind import Configuration
from clearformer.runs.sources import is_unicode
from clearformer.text.tokenizer import Tokenizer
from clearformer.training.judged import Judged
from clearformer.training.options import TrainingOptions
from clearformer.training.preparation import ModelFor, Prepared, fit


@dataclass(frozen=True, eq=False)
class DataMaterial:
    """A prepared text; its ids stay in their files."""

    data: Data

    @property
    def fingerprint(self) -> str:
        """SHA-256 of the text that it was made of."""
        return self.data.fingerprint

    @property
    def shown(self) -> str:
        """For a message."""
        return str(self.data.path)

    @property
    def notes(self) -> tuple[str, ...]:
        """What was noticed when it was prepared."""
        return self.data.plan.notes

    @property
    def name(self) -> str:
        """What a run on it is called: the name of the folder."""
        return self.data.path.resolve().name

    @property
    def characters_to_cut(self) -> int:
        """None: there are ids already."""
        return 0

    def recorded(self) -> dict[str, Any]:
        """What run.json keeps of it, so that it can be found again."""
        path = str(self.data.path.resolve())
        plan = self.data.plan
        return {
            **({"data": path} if is_unicode(path) else {}),
            "sources": list(self.data.sources),
            "files": [],
            "encoding": plan.encoding,
            "characters": plan.characters,
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
        """Everything a new run needs: fits a model to the ids that are there.

        Raises:
            TextError: there is nothing that could be trained on, or a shard is damaged.
            ConfigurationError: another tokenizer is asked for than it was prepared with; the sizes
                are impossible, or larger than the machine.
        """
        plan = self.data.plan
        for name, asked, there in (
            ("tokenizer", kind, plan.tokenizer),
            ("vocab", vocabulary, plan.asked),
        ):
            if asked is not None and asked != there:
                given = f"--{name} {there}" if there is not None else f"no --{name}"
                raise ConfigurationError(
                    f"{self.data.path} was prepared with {given}; got {name}={asked}; leave it "
                    "out, or prepare the text anew"
                )
        return fit(
            self.data.tokenizer,
            self.data.train,
            self.data.validation,
            notes=self.notes,
            vocabulary=plan.asked,
            model=model,
            options=options,
            fits=fits,
        )

    def prepared_again(
        self, tokenizer: Tokenizer, model: Configuration, notes: Sequence[str]
    ) -> Prepared:
        """The same for a run that goes on: the ids are there."""
        validation = self.validation(tokenizer)
        return Prepared(tokenizer, self.data.train, validation, model, (*self.notes, *notes))

    def validation(self, tokenizer: Tokenizer) -> Judged:
        """The end of the text.

        Raises:
            TextError: the ids are of another tokenizer.
        """
        if self.data.tokenizer.fingerprint != tokenizer.fingerprint:
            raise TextError(
                f"{self.data.path} holds the ids of another tokenizer than that of this run; "
                "name the text itself"
            )
        return self.data.validation

    def to_be_judged(self, tokenizer: Tokenizer) -> Judged:
        """The end of the text: all of it could take days."""
        return self.validation(tokenizer)
