"""Training word vectors on a text."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from clearformer.engines.choose import moved, require_possible
from clearformer.engines.dispatch import array_of
from clearformer.engines.execution import Wish
from clearformer.engines.tape import value_and_gradients
from clearformer.engines.threads import one_blas_thread
from clearformer.errors import NotFiniteError
from clearformer.runs.sources import corpus_of, require_text
from clearformer.text.corpus import Corpus
from clearformer.words.model import SkipGram
from clearformer.words.noise import Noise, kept_shares, noise_shares
from clearformer.words.options import WordOptions
from clearformer.words.pairs import Pairs, epoch_of_pairs
from clearformer.words.rows import Rows
from clearformer.words.vectors import WordVectors
from clearformer.words.vocabulary import CountedText, count_words

Progress = Callable[[float], None]
"""Hears from time to time which share of the work is done."""


def word_vectors(
    text: str | Path | Sequence[str | Path] | Corpus | None = None,
    *,
    embed: int = WordOptions.embed,
    window: int = WordOptions.window,
    negatives: int = WordOptions.negatives,
    least: int = WordOptions.least,
    epochs: int = WordOptions.epochs,
    seed: int = WordOptions.seed,
    learning_rate: float = WordOptions.learning_rate,
    threshold: float = WordOptions.threshold,
    engine: str = "numpy",
    device: str | None = None,
    encoding: str = "utf-8",
    progress: Progress | None = None,
) -> WordVectors:
    """Gives each word of a text a vector, by skip-gram with negative sampling.

    Words that occur among the same words get similar vectors. (Mikolov et al., "Distributed
    Representations of Words and Phrases and their Compositionality", 2013.)

    Args:
        text: a file, files, or the text itself; None for the documentation that Python carries.
        embed: numbers in each vector.
        window: words to either side that count as context, at most.
        negatives: words of noise that count against each word of context.
        least: words that occur less often are left out.
        epochs: how often the text is gone through.
        seed: the same seed gives the same vectors.
        learning_rate: of Adagrad.
        threshold: share of the text from which some of a frequent word is passed over.
        engine: numpy or torch.
        device: of PyTorch; the best one there is unless given.
        encoding: of the files.
        progress: hears from time to time which share of the work is done.

    Raises:
        ConfigurationError: a dial is out of range, or the engine is not there.
        TextError: the text cannot be read, or has too few words.
        NotFiniteError: the loss became NaN or infinite.
    """
    options = WordOptions(embed, window, negatives, least, epochs, seed, learning_rate, threshold)
    require_possible(Wish(engine, device))
    require_text(text)
    counted = count_words(corpus_of(text, encoding).text, least)
    return fit(counted, options, engine=engine, device=device, progress=progress)


def fit(
    counted: CountedText,
    options: WordOptions,
    *,
    engine: str = "numpy",
    device: str | None = None,
    progress: Progress | None = None,
    dtype: Any = np.float32,
) -> WordVectors:
    """The vectors of a text whose words have been counted. Raises as `word_vectors`."""
    vocabulary = counted.vocabulary
    rng = np.random.default_rng(options.seed)
    shape = (len(vocabulary), options.embed)
    # small numbers for one table, zeros for the other: at first every score is zero
    centre = Rows(((rng.random(shape) - 0.5) / options.embed).astype(dtype), options.learning_rate)
    context = Rows(np.zeros(shape, dtype), options.learning_rate)
    kept = kept_shares(vocabulary.counts, options.threshold)
    noise = Noise(noise_shares(vocabulary.counts))
    loss = 0.0
    with one_blas_thread(), np.errstate(over="ignore", invalid="ignore"):
        for epoch in range(options.epochs):
            total, count = 0.0, 0
            for share, pairs in epoch_of_pairs(counted.ids, kept, noise, options, rng):
                total += train_step(centre, context, pairs, engine, device)
                count += pairs.count
                if progress:
                    progress((epoch + share) / options.epochs)
            loss = total / max(count, 1)
    return WordVectors(vocabulary, centre.table, options, loss)


def train_step(
    centre: Rows, context: Rows, pairs: Pairs, engine: str = "numpy", device: str | None = None
) -> float:
    """Moves the vectors of the words in `pairs`, and returns the loss before, in nats.

    The tables stay in NumPy, and the engine gets the rows of the step.

    Raises:
        NotFiniteError: the loss is no number.
    """
    centres, rows = np.unique(pairs.centres, return_inverse=True)
    contexts, columns = np.unique(pairs.contexts, return_inverse=True)
    touched = replace(
        pairs,
        centres=rows.reshape(pairs.centres.shape),
        contexts=columns.reshape(pairs.contexts.shape),
    )
    model = moved(SkipGram(centre.table[centres], context.table[contexts]), engine, device)
    loss, gradients = value_and_gradients(
        lambda *tables: SkipGram(*tables).loss(touched), model.centre, model.context
    )
    if not np.isfinite(array_of(loss)):
        raise NotFiniteError("the loss became NaN or infinite; try a smaller --learning-rate")
    centre.update(centres, array_of(gradients[0]))
    context.update(contexts, array_of(gradients[1]))
    return float(loss)
