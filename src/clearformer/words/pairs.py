"""Pairs of a word and its context, as tables: a row for each word, a column for each other.

The text is cut into blocks of words that follow each other. The words of a block and those around
it make a small table, in which the pairs that count are those whose column is within the window of
the row. So all scores of a block are one product of matrices, where pair by pair each vector would
be fetched again for every pair it is in. The columns at the end are noise, drawn once for a block.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from clearformer.tensor import Bool, Float, Int
from clearformer.words.noise import Noise
from clearformer.words.options import WordOptions

BLOCK = 32
"""Words in a block: with a window of five about a seventh of the first columns counts."""

NOISE = 32
"""Words of noise for a block; each counts k/32 for each pair of a row, so that together they count
as k do: the mean over the draws is the expectation of equation 4."""

GROUP = 8
"""Blocks in a step, from all over the text. More are quicker, and learn less in an epoch."""


@dataclass(frozen=True)
class Pairs:
    """The blocks of one step."""

    centres: Int[np.ndarray, "group row"]
    contexts: Int[np.ndarray, "group column"]
    """The words around, then the noise."""
    targets: Bool[np.ndarray, "row column"]
    """True for the words around, False for noise."""
    weights: Float[np.ndarray, "group row column"]
    """How much each pair counts: 1 or 0 for the words around, a share of k for noise."""
    count: int
    """Pairs of a word and its context."""


def epoch_of_pairs(
    ids: Int[np.ndarray, " seq"],
    kept: Float[np.ndarray, " vocab"],
    noise: Noise,
    options: WordOptions,
    rng: np.random.Generator,
) -> Iterator[tuple[float, Pairs]]:
    """The pairs of one time through a text, and which share of it is then done.

    Frequent words are passed over at random first, so that windows reach further (section 2.3).
    """
    seen = ids[rng.random(len(ids)) < kept[ids]]
    blocks = -(-len(seen) // BLOCK)
    padded = np.full(blocks * BLOCK + 2 * options.window, -1)
    padded[options.window : options.window + len(seen)] = seen
    order = rng.permutation(blocks)
    columns = np.arange(BLOCK + 2 * options.window)
    for start in range(0, blocks, GROUP):
        chosen = order[start : start + GROUP, None]
        around = padded[chosen * BLOCK + columns]
        yield min(1.0, (start + GROUP) / blocks), pairs_of(around, noise, options, rng)


def pairs_of(
    around: Int[np.ndarray, "group column"],
    noise: Noise,
    options: WordOptions,
    rng: np.random.Generator,
) -> Pairs:
    """The pairs of some blocks; `around` holds each block and a window to its sides, -1: no word.

    How far a row looks is drawn anew, from 1 to the window: near words count more.
    """
    window, groups = options.window, len(around)
    rows = around.shape[1] - 2 * window
    centres = around[:, window : window + rows]
    reach = rng.integers(1, window + 1, centres.shape)
    near = within(reach, window) & (centres >= 0)[:, :, None] & (around >= 0)[:, None, :]
    drawn = noise.draw(rng, (groups, NOISE))
    found = near.sum(-1, keepdims=True)
    against = np.broadcast_to(found * (options.negatives / NOISE), (groups, rows, NOISE))
    is_around = np.arange(around.shape[1] + NOISE) < around.shape[1]
    return Pairs(
        np.maximum(centres, 0),
        np.concatenate([np.maximum(around, 0), drawn], 1),
        np.broadcast_to(is_around, (rows, len(is_around))),
        np.concatenate([near, against], -1),
        int(found.sum()),
    )


def within(
    reach: Int[np.ndarray, "group row"], window: int
) -> Bool[np.ndarray, "group row column"]:
    """Whether a column, of a block with a window to its sides, is as near to a row as it looks.

    A word is no context of itself.
    """
    rows = reach.shape[1]
    place = np.arange(rows)[:, None] + window
    distance = np.abs(place - np.arange(rows + 2 * window))
    return np.asarray((distance > 0) & (distance <= reach[:, :, None]))
