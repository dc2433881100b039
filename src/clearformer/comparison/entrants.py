"""Who takes part in a comparison: a kind of model, with dials that are set for it alone."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from clearformer.errors import ConfigurationError
from clearformer.models.kind import Kind
from clearformer.models.kinds import KINDS
from clearformer.text import KINDS as TOKENIZERS

COUNTING = "ngram"
"""The n-gram model: it counts, and is trained by nothing."""

OWN = ("tokenizer", "vocab")
"""Dials that are no field of a configuration: what a token is, and how many there are at most."""

Reads = Literal["text", "rows", "pairs"]
"""What a task gives: a text, rows of symbols, or pairs of texts."""


@dataclass(frozen=True)
class Entrant:
    """One that takes part."""

    name: str
    """As it was written: kind:dial=value:…"""
    kind: str
    dials: Mapping[str, Any] = field(default_factory=dict)
    """Fields of its configuration."""
    tokenizer: str | None = None
    """What a token is for it, if that was said for it alone."""
    vocab: int | None = None

    @property
    def counts(self) -> bool:
        """Whether it is the n-gram model."""
        return self.kind == COUNTING


def entrants_of(models: str | Sequence[str]) -> tuple[Entrant, ...]:
    """Those that take part, in the order given.

    Raises:
        ConfigurationError: none, the same twice, or one that cannot be.
    """
    if not isinstance(models, str) and not (
        isinstance(models, Sequence) and all(isinstance(name, str) for name in models)
    ):
        raise ConfigurationError(f"models are names in a list or in one string; got {models!r:.40}")
    written = models.split(",") if isinstance(models, str) else list(models)
    found = tuple(entrant_of(name) for name in written)
    if not found:
        raise ConfigurationError(f"name models to compare, of {', '.join(comparable_kinds())}")
    for number, entrant in enumerate(found):
        if entrant in found[:number] or entrant.name in [each.name for each in found[:number]]:
            raise ConfigurationError(f"{entrant.name} takes part twice; name it once")
    return found


def entrant_of(written: str) -> Entrant:
    """The entrant written as kind, or as kind:dial=value:dial=value.

    Raises:
        ConfigurationError: there is no such kind or dial, or a value that the dial cannot have.
    """
    name, *settings = (part.strip() for part in str(written).strip().split(":"))
    if name not in [COUNTING, *KINDS]:
        near = get_close_matches(name.lower(), comparable_kinds(), 1)
        hint = f"; did you mean {near[0]}?" if near else ""
        raise ConfigurationError(
            f"models to compare are {', '.join(comparable_kinds())}, with dials as in "
            f"decoder:recipe=classic; got {str(written)!r:.60}{hint}"
        )
    dials: dict[str, Any] = {}
    for setting in settings:
        dial, equals, value = (part.strip() for part in setting.partition("="))
        if not equals or dial in dials:
            raise ConfigurationError(
                f"{name}: a dial is written once, as dial=value; got {setting!r}"
            )
        dials[dial] = _value(name, dial, value)
    own = {dial: dials.pop(dial) for dial in OWN if dial in dials}
    return Entrant(":".join([name, *settings]), name, dials, **own)


def comparable_kinds() -> list[str]:
    """What can take part where the task fits: all but what sees what comes after a token."""
    return [COUNTING, *(name for name, kind in KINDS.items() if not kind.fills)]


def default_models(reads: Reads, counting: bool) -> list[str]:
    """Those that take part unless others are named: not all that fit, the oldest first."""
    order = ["rnn", "lstm", "gru", "decoder"]
    if reads == "pairs":  # reading on without a side for the source, then with one
        order = ["lstm", "seq2seq:attention=none", "seq2seq", "encoder-decoder", "decoder"]
    there = [name for name in order if name.partition(":")[0] in KINDS]
    return ([COUNTING] if counting else []) + there


def check_fits(entrants: Sequence[Entrant], task: str, reads: Reads, counting: bool) -> None:
    """Refuses at once a model that cannot be asked what the task asks.

    Args:
        entrants: those that take part.
        task: its name.
        reads: what it gives.
        counting: whether counting can be judged by it.

    Raises:
        ConfigurationError: naming the entrant, why, and which kinds fit.
    """
    for entrant in entrants:
        if entrant.counts:
            why = None if counting else "counting predicts a text, not the answers of a task"
        else:
            why = obstacle(KINDS[entrant.kind], reads)
        if why:
            fitting = ", ".join(default_models(reads, counting))
            raise ConfigurationError(
                f"{entrant.name} does not fit the task {task}: {why}; take {fitting}"
            )


def obstacle(kind: Kind, reads: Reads) -> str | None:
    """Why a kind does not fit what a task gives; None if it does."""
    if kind.fills:
        return "it sees what comes after a token, so it cannot be asked for the next one"
    if kind.reads == "pairs" and reads != "pairs":
        return "it learns from pairs"
    return None


def _value(kind: str, dial: str, value: str) -> Any:
    """The value of a dial, of the type that it has."""
    types = {"tokenizer": str, "vocab": int}
    if kind == COUNTING:
        types["order"] = int
    else:
        hints = get_type_hints(KINDS[kind].configuration)
        types.update({name: _plain(hints[name]) for name in KINDS[kind].dials})
    if dial not in types:
        raise ConfigurationError(f"{kind} has no dial {dial!r}; it has {', '.join(types)}")
    try:
        if types[dial] is bool:
            made: Any = {"true": True, "false": False}[value.lower()]
        else:
            made = types[dial](value)
    except (ValueError, KeyError):
        wanted = {bool: "true or false", int: "a whole number", float: "a number"}
        raise ConfigurationError(
            f"{kind}: {dial} must be {wanted[types[dial]]}; got {value!r}"
        ) from None
    if dial == "tokenizer" and made not in TOKENIZERS:
        raise ConfigurationError(
            f"{kind}: tokenizer must be one of {', '.join(TOKENIZERS)}; got {value!r}"
        )
    if types[dial] is int and made < 1:
        raise ConfigurationError(f"{kind}: {dial} must be at least 1; got {value}")
    return made


def _plain(annotation: Any) -> Any:
    """`int | None` → int; a Literal → str."""
    if get_origin(annotation) is Union or type(None) in get_args(annotation):
        return next(each for each in get_args(annotation) if each is not type(None))
    return annotation if isinstance(annotation, type) else str
