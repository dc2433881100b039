"""Filling in masked tokens, one at a time, the one first of which the model is most certain."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from clearformer.engines.dispatch import array_of
from clearformer.generation.sampling import Sampling, draw, probabilities
from clearformer.tensor import Float

PLAIN = Sampling(temperature=1.0)


def fill(
    model: Any,
    ids: Sequence[int],
    *,
    mask: int,
    context: int,
    sampling: Sampling,
    rng: np.random.Generator,
    never: Sequence[int] = (),
) -> Iterator[tuple[int, int]]:
    """Yields the position and the id of each token that takes the place of a mask.

    After each the model reads the text again, in which that token now stands. (Ghazvininejad et
    al., "Mask-Predict", 2019, go by certainty too, and change their mind; here what stands stays.)
    A text longer than `context` is read in windows around its first mask.

    Args:
        model: an encoder.
        ids: with the mask where something is missing.
        mask: the id of the mask.
        context: tokens the model sees at once.
        sampling: how a token is drawn; temperature 0 takes the most likely.
        rng: draws.
        never: ids that are not written.
    """
    text = np.array(ids, np.int64)
    while (text == mask).any():
        start = window_around(int((text == mask).argmax()), len(text), context)
        window = text[start : start + context]
        places = np.flatnonzero(window == mask)
        scores = scores_at(model, window, places, never)
        best = int(np.argmax([probabilities(row, PLAIN).max() for row in scores]))
        position = start + int(places[best])
        text[position] = draw(scores[best], sampling, rng)
        yield position, int(text[position])


def window_around(position: int, length: int, context: int) -> int:
    """Where a window of `context` tokens begins that has `position` in its middle, or near it."""
    return max(0, min(position - context // 2, length - context))


def scores_at(
    model: Any, window: np.ndarray, places: np.ndarray, never: Sequence[int]
) -> Float[np.ndarray, "places vocab"]:
    """The scores of every token to stand at some places of a window."""
    scores: np.ndarray = array_of(model(window[None])[0])[places]
    scores[:, list(never)] = -np.inf
    return scores
