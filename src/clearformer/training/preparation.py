"""Before the start: cuts the text, makes the tokenizer, fits the sizes, tells what changed."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from clearformer.errors import ConfigurationError, TextError
from clearformer.models.configuration import SIZES, ModelConfiguration
from clearformer.text.corpus import Corpus
from clearformer.text.ids import Ids
from clearformer.text.split import split_text
from clearformer.text.tokenizer import Tokenizer, build_tokenizer
from clearformer.training.judged import Judged, judged
from clearformer.training.memory import require_memory
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
    train: Ids
    """Token ids to learn from."""
    validation: Judged
    """The end of the text; fewer than two tokens if it is too short."""
    model: ModelConfiguration
    notes: tuple[str, ...]
    """What was adjusted and why, one sentence each."""


def model_dials(size: str | None, dials: Mapping[str, Any]) -> dict[str, Any]:
    """The sizes of the dial `size`, with every part that was set by itself on top.

    Raises:
        ConfigurationError: if there is no such size.
    """
    if size is not None and size not in SIZES:
        raise ConfigurationError(f"size must be one of {', '.join(SIZES)}; got {size!r}")
    given = {name: value for name, value in dials.items() if value is not None}
    return {**SIZES[size or "small"], **given}


def prepare(
    corpus: Corpus,
    *,
    kind: str,
    vocabulary: int | None,
    dials: Mapping[str, Any],
    options: TrainingOptions,
    workers: int,
) -> Prepared:
    """Fits tokenizer, model and text together.

    Args:
        corpus: the text.
        kind: of tokenizer.
        vocabulary: at most so many tokens; None leaves it to the tokenizer.
        dials: fields of `ModelConfiguration` without the vocabulary.
        options: of training.
        workers: threads that will share a batch.

    Raises:
        TextError: if there is nothing that could be trained on.
        ConfigurationError: if the sizes are impossible, or larger than the machine.
    """
    # refused before any work: these sizes fit no vocabulary
    smallest = ModelConfiguration(vocabulary or 2, **dials)
    require_memory(smallest, options.batch, workers, options.accumulation)
    train_text, validation_text = split_text(corpus.text, VALIDATION)
    _require_length(corpus.text, train_text)
    tokenizer = build_tokenizer(kind, corpus.text, vocabulary)
    train, validation = tokenizer.encode(train_text), judged(tokenizer, validation_text)
    configuration = ModelConfiguration(tokenizer.vocabulary_size, **dials)
    require_memory(configuration, options.batch, workers, options.accumulation)
    notes = list(corpus.notes)
    configuration = _fit_context(configuration, len(train), notes)
    _judge_vocabulary(tokenizer, vocabulary, len(train), notes)
    _judge_validation(validation, notes)
    return Prepared(
        tokenizer=tokenizer,
        train=train,
        validation=validation,
        model=configuration,
        notes=tuple(notes),
    )


def _require_length(text: str, train_text: str) -> None:
    if len(train_text) < 2:
        raise TextError(
            f"the text has {len(text)} character{'s' * (len(text) != 1)}; at least 3 are needed, "
            "so that its first 90 % hold one to predict another from; give a longer text"
        )


def _fit_context(
    configuration: ModelConfiguration, tokens: int, notes: list[str]
) -> ModelConfiguration:
    if tokens < 2:
        raise TextError(
            f"the text has {tokens} token{'s' * (tokens != 1)} to train on; at least 2 are needed; "
            "give a longer text or a finer tokenizer (--tokenizer characters)"
        )
    if tokens > configuration.context:
        return configuration
    fitted = replace(configuration, context=tokens - 1)
    notes.append(
        f"context was cut from {configuration.context} to {fitted.context}: "
        f"the text has only {tokens} tokens to train on"
    )
    return fitted


def _judge_validation(validation: Judged, notes: list[str]) -> None:
    tokens = len(validation.ids)
    if tokens < 2:
        notes.append(
            f"the last 10 % of the text holds only {tokens} token{'s' * (tokens != 1)}, too few to "
            "measure a validation loss; none will be given"
        )
        return
    unknown = sum(validation.unknown.values()) / tokens
    if unknown > MANY_UNKNOWN:
        notes.append(
            f"{unknown:.0%} of the text to be judged by is unknown to the vocabulary: the loss is "
            "low because <unk> is easy to predict; bits per character charge for the spelling"
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
