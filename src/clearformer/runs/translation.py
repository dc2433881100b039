"""Writing the targets of sources with a trained model on pairs."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from clearformer.engines.threads import threads_for_generation
from clearformer.errors import ConfigurationError, TextError
from clearformer.models.kinds import KINDS
from clearformer.models.pairs.marks import end_of
from clearformer.models.pairs.search import Found, search
from clearformer.text.ids import Ids
from clearformer.text.pair_ids import side_by_side

if TYPE_CHECKING:
    from clearformer.runs.run import Run

ROWS = 64
"""Sources that are read side by side."""


@dataclass(frozen=True)
class Target:
    """What was written for a source."""

    source: str
    text: str
    tokens: int
    log_probability: float
    """Of the target and its end, in nats."""


@dataclass(frozen=True)
class Translated:
    """The target of each source, and what a person should know."""

    targets: tuple[Target, ...]
    notes: tuple[str, ...]


def require_pairs(run: "Run") -> None:
    """Refuses a model that has no sources.

    Raises:
        ConfigurationError: saying what the run is.
    """
    if run.reads != "pairs":
        on_pairs = " or ".join(each.name for each in KINDS.values() if each.reads == "pairs")
        raise ConfigurationError(
            f"{run.path} is a model of kind {run.configuration.kind}, which writes on and does not "
            f"translate; expected one of kind {on_pairs}; use clearformer generate"
        )


def translate(run: "Run", texts: Sequence[str], beam: int = 1, *, first: int = 1) -> Translated:
    """The target of each source, written by greedy or beam search.

    Args:
        run: a model on pairs.
        texts: the sources.
        beam: beginnings that are gone on with at once.
        first: number of the first text, as errors have it.

    Raises:
        ConfigurationError: the model is none on pairs, or the beam cannot be.
        TextError: a source in which nothing is known, or longer than the model bears.
    """
    if isinstance(texts, str):
        raise ConfigurationError("texts is a list of sources; got one text: put it in a list")
    require_pairs(run)
    if not isinstance(texts, Sequence) or not all(isinstance(text, str) for text in texts):
        raise ConfigurationError(f"texts is a list of sources, each a string; got {texts!r:.40}")
    sources = [source_ids(run, text, number) for number, text in enumerate(texts, first)]
    order = np.argsort([len(ids) for ids in sources], kind="stable")
    found: dict[int, Target] = {}
    with threads_for_generation(run.configuration.parameter_count):
        for begin in range(0, len(order), ROWS):
            numbers = order[begin : begin + ROWS].tolist()
            for number, target in zip(
                numbers, _written(run, [sources[n] for n in numbers], beam), strict=True
            ):
                text = run.tokenizer.decode(target.ids)
                found[number] = Target(texts[number], text, len(target.ids), target.log_probability)
    targets = tuple(found[number] for number in range(len(texts)))
    return Translated(targets, run.unknown_notes(*texts))


def source_ids(run: "Run", text: str, number: int = 1) -> Ids:
    """The ids of a source, without its end.

    Raises:
        TextError: nothing in it is known, or it is longer than the model bears.
    """
    ids, context = run.tokenizer.encode(text), run.configuration.window
    if not len(ids):
        raise TextError(
            f"text {number:,}: expected a text in this model's vocabulary; got {text[:40]!r}, in "
            "which nothing is known"
        )
    if len(ids) >= context:
        raise TextError(
            f"text {number:,} has {len(ids):,} tokens and its end, and this model bears "
            f"{context:,}; give a shorter text, or train a model with --context {len(ids) + 1}"
        )
    return ids


def _written(run: "Run", sources: list[Ids], beam: int) -> list[Found]:
    read, lengths = side_by_side(sources, end_of(run.configuration.vocabulary))
    return search(
        run.model,
        read,
        lengths,
        longest=run.configuration.window,
        beam=beam,
        never=run.tokenizer.control_ids,
    )
