"""Before the start: cuts the text, makes the tokenizer, fits the sizes, tells what changed."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from clearformer.errors import ConfigurationError, TextError
from clearformer.models.kind import Configuration, Kind
from clearformer.text.corpus import Corpus
from clearformer.text.ids import LongIds
from clearformer.text.pair_ids import PairIds
from clearformer.text.split import split_text
from clearformer.text.tokenizer import Tokenizer, build_tokenizer
from clearformer.training.judged import Judged, judged
from clearformer.training.options import TrainingOptions

VALIDATION = 0.1
"""Share of the text, at its end, that is never trained on."""

SEEN_ENOUGH = 20
"""A vocabulary in which a token is met fewer times on average leaves most of it unlearned."""

SMALLEST_USEFUL = 300
"""A smaller vocabulary of words or byte pairs is hardly better than characters."""

MANY_UNKNOWN = 0.05
"""Share of unknown tokens from which a loss should not be read without being told."""


@dataclass(frozen=True)
class Prepared:
    """Everything a run needs, in sizes that fit together."""

    tokenizer: Tokenizer
    train: Any
    """Token ids to learn from: `LongIds`, or `PairIds` for a model on pairs."""
    validation: Judged
    """The end of the text; fewer than two tokens if it is too short."""
    model: Configuration
    notes: tuple[str, ...]
    """What was adjusted and why, one sentence each."""

    @property
    def tokens(self) -> int:
        """How many there are to learn from."""
        return self.train.tokens if isinstance(self.train, PairIds) else len(self.train)


ModelFor: TypeAlias = Callable[[int], Configuration]
"""The configuration of a model that knows so many tokens."""


SHAPE = ("layers", "heads", "embed", "context", "key_value_heads", "hidden", "recipe")
"""Dials of which any decides how large a model is, and how long its steps take."""

BRIEF_MINUTES = 0.5
"""Up to so many minutes on a processor half the depth learns more: see decision 0016."""


def brief_sizes(
    kind: Kind, size: str | None, dials: Mapping[str, Any], minutes: float | None
) -> Mapping[str, Any]:
    """What differs from the small sizes in a run of so many minutes; nothing where it is long.

    Nothing either where anybody has named a size, a part of one or a recipe, or no minutes.
    """
    named = size is not None or any(dials.get(name) is not None for name in SHAPE)
    return {} if named or minutes is None or minutes > BRIEF_MINUTES else kind.brief


def model_for(
    kind: Kind, size: str | None, dials: Mapping[str, Any], minutes: float | None = None
) -> ModelFor:
    """The sizes of the dial `size`, with every part that was set by itself on top.

    Args:
        kind: of model.
        size: its name; small unless given.
        dials: fields of the kind's configuration, None for those that were not set.
        minutes: that the run may take, where they may decide: see `brief_sizes`.

    Raises:
        ConfigurationError: if there is no such size, or a dial that this kind does not have.
    """
    if size is not None and size not in tuple(kind.sizes):
        raise ConfigurationError(f"size must be one of {', '.join(kind.sizes)}; got {size!r}")
    given = {name: value for name, value in dials.items() if value is not None}
    foreign = [name for name in given if name not in kind.dials]
    if foreign:
        raise ConfigurationError(
            f"a model of kind {kind.name} has no {' or '.join(foreign)}; it has "
            f"{', '.join(kind.dials)}"
        )
    brief = brief_sizes(kind, size, given, minutes)
    chosen = {**kind.sizes.get(size or "small", {}), **brief, **given}
    return lambda vocabulary: kind.configuration(vocabulary, **chosen)


def prepare(
    corpus: Corpus,
    *,
    kind: str,
    vocabulary: int | None,
    model: ModelFor,
    options: TrainingOptions,
    fits: Callable[[Configuration], None],
) -> Prepared:
    """Fits tokenizer, model and text together.

    Args:
        corpus: the text.
        kind: of tokenizer.
        vocabulary: at most so many tokens; None leaves it to the tokenizer.
        model: its configuration, by the size of the vocabulary.
        options: of training.
        fits: refuses a model that needs more memory than there is.

    Raises:
        TextError: if there is nothing that could be trained on.
        ConfigurationError: if the sizes are impossible, or larger than the machine.
    """
    # refused before any work: these sizes fit no vocabulary
    fits(model(vocabulary or 2))
    train_text, validation_text = split_text(corpus.text, VALIDATION)
    require_length(len(corpus.text), len(train_text))
    tokenizer = build_tokenizer(kind, corpus.text, vocabulary)
    return fit(
        tokenizer,
        tokenizer.encode(train_text),
        judged(tokenizer, validation_text),
        notes=corpus.notes,
        vocabulary=vocabulary,
        model=model,
        options=options,
        fits=fits,
    )


def fit(
    tokenizer: Tokenizer,
    train: LongIds,
    validation: Judged,
    *,
    notes: Sequence[str],
    vocabulary: int | None,
    model: ModelFor,
    options: TrainingOptions,
    fits: Callable[[Configuration], None],
) -> Prepared:
    """Fits a model to ids that are there already.

    Args:
        tokenizer: that made the ids.
        train: to learn from.
        validation: to be judged by.
        notes: what was noticed before.
        vocabulary: at most so many tokens were asked for.
        model: its configuration, by the size of the vocabulary.
        options: of training.
        fits: refuses a model that needs more memory than there is.

    Raises:
        TextError: if there is nothing that could be trained on.
        ConfigurationError: if the sizes are impossible, or larger than the machine.
    """
    configuration = model(tokenizer.vocabulary_size)
    fits(configuration)
    found = list(notes)
    configuration = _fit_window(configuration, len(train), found)
    _judge_vocabulary(tokenizer, vocabulary, len(train), found)
    _judge_validation(validation, found)
    return Prepared(
        tokenizer=tokenizer,
        train=train,
        validation=validation,
        model=configuration,
        notes=tuple(found),
    )


def require_length(characters: int, to_learn_from: int) -> None:
    """Refuses a text of so many characters, of which so many are to be learned from.

    Raises:
        TextError: there is nothing to predict.
    """
    if to_learn_from < 2:
        raise TextError(
            f"the text has {characters} character{'s' * (characters != 1)}; at least 3 are needed, "
            "so that its first 90 % hold one to predict another from; give a longer text"
        )


def _fit_window(configuration: Configuration, tokens: int, notes: list[str]) -> Configuration:
    if tokens < 2:
        raise TextError(
            f"the text has {tokens} token{'s' * (tokens != 1)} to train on; at least 2 are needed; "
            "give a longer text or a finer tokenizer (--tokenizer characters)"
        )
    if tokens > configuration.window:
        return configuration
    notes.append(
        f"context was cut from {configuration.window} to {tokens - 1}: "
        f"the text has only {tokens} tokens to train on"
    )
    return configuration.with_window(tokens - 1)


def _judge_validation(validation: Judged, notes: list[str]) -> None:
    tokens = len(validation.ids)
    if tokens < 2:
        notes.append(
            f"the last 10 % of the text holds only {tokens} token{'s' * (tokens != 1)}, too few to "
            "measure a validation loss; none will be given"
        )
        return
    unknown = validation.unknown_tokens / tokens
    if unknown > MANY_UNKNOWN:
        notes.append(
            f"{unknown:.0%} of the text to be judged by is unknown to the vocabulary: the loss is "
            "low because <unk> is easy to predict; bits per character count it, too"
        )


def _judge_vocabulary(
    tokenizer: Tokenizer, asked: int | None, tokens: int, notes: list[str]
) -> None:
    size = tokenizer.vocabulary_size
    if asked is not None and size < asked:
        notes.append(
            f"the vocabulary has {size:,} tokens instead of {asked:,}: the text has no more"
        )
    if tokens < SEEN_ENOUGH * size and tokenizer.kind != "characters":
        smaller = tokens // SEEN_ENOUGH
        hint = f"--vocab {smaller} or " if smaller >= SMALLEST_USEFUL else ""
        notes.append(
            f"the vocabulary of {size:,} tokens is large for a text of {tokens:,} tokens: each is "
            f"met {tokens / size:.1f} times on average; {hint}--tokenizer characters would learn "
            "more from it"
        )
