"""Filling in the blanks of a text with a trained encoder."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from clearformer.engines.threads import threads_for_generation
from clearformer.errors import ConfigurationError, TextError
from clearformer.generation.fill import PLAIN, fill, scores_at, window_around
from clearformer.generation.sampling import Sampling, probabilities
from clearformer.models.kinds import KINDS
from clearformer.text.with_mask import MASK, WithMask

if TYPE_CHECKING:
    from clearformer.runs.run import Run


@dataclass(frozen=True)
class Blank:
    """What could stand at one mask."""

    position: int
    """Of its token, counted from 0."""
    candidates: tuple[tuple[str, float], ...]
    """Tokens and their probabilities, the likeliest first."""


@dataclass(frozen=True)
class Filled:
    """A text in which nothing is missing any more."""

    text: str
    tokens: int
    """How many were filled in."""
    notes: tuple[str, ...]
    """What of the text the model cannot read."""


def read_with_masks(run: "Run", text: str) -> tuple[WithMask, np.ndarray]:
    """How the model reads a text, and its ids, among which there is a mask.

    Raises:
        ConfigurationError: the model is none that fills in, or it is no text.
        TextError: there is no mask in the text.
    """
    if not KINDS[run.configuration.kind].fills:
        able = " or ".join(kind.name for kind in KINDS.values() if kind.fills)
        raise ConfigurationError(
            f"{run.path} is a model of kind {run.configuration.kind}, which writes on and fills in "
            f"nothing; expected one of kind {able}; use generate"
        )
    if not isinstance(text, str):
        raise ConfigurationError(f"a text is a string; got {type(text).__name__}")
    reader = WithMask(run.tokenizer)
    ids = reader.encode(text)
    if reader.mask not in ids:
        raise TextError(
            f"an encoder fills in what is missing: expected {MASK} in the text, once for each "
            f'missing token; got none; try "The {MASK} is red"'
        )
    return reader, ids.astype(np.int64)


def filled(run: "Run", text: str, sampling: Sampling, seed: int | None = None) -> Filled:
    """The text with a token in the place of each mask; the surest comes first.

    Raises:
        ConfigurationError: the model is none that fills in.
        TextError: there is no mask in the text.
    """
    reader, ids = read_with_masks(run, text)
    found: dict[int, int] = {}
    with threads_for_generation(run.configuration.parameter_count):
        for position, id in fill(
            run.model,
            ids.tolist(),
            mask=reader.mask,
            context=run.configuration.window,
            sampling=sampling,
            rng=np.random.default_rng(seed),
            never=run.tokenizer.control_ids,
        ):
            found[position] = id
    in_order = [found[position] for position in sorted(found)]
    return Filled(reader.filled(text, in_order), len(found), run.unknown_notes(text))


def candidates(run: "Run", text: str, most: int) -> tuple[Blank, ...]:
    """The tokens most likely to stand at each mask, with all masks of its window still there.

    Raises:
        ConfigurationError: the model is none that fills in, or `most` is no number.
        TextError: there is no mask in the text.
    """
    if not isinstance(most, int) or isinstance(most, bool) or most < 1:
        raise ConfigurationError(f"most must be a whole number of at least 1; got {most!r}")
    reader, ids = read_with_masks(run, text)
    context, never = run.configuration.window, run.tokenizer.control_ids
    blanks = []
    with threads_for_generation(run.configuration.parameter_count):
        for position in np.flatnonzero(ids == reader.mask).tolist():
            start = window_around(position, len(ids), context)
            window = ids[start : start + context]
            (scores,) = scores_at(run.model, window, np.array([position - start]), never)
            shares = probabilities(scores, PLAIN)
            order = np.argsort(-shares, kind="stable")[: min(most, len(shares) - len(never))]
            found = tuple((run.tokenizer.token_text(int(n)), float(shares[n])) for n in order)
            blanks.append(Blank(position, found))
    return tuple(blanks)
