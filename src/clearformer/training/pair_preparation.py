"""Before the start of a model on pairs: tokenizer, ids, and whether every pair fits the model."""

from collections.abc import Callable, Sequence

import numpy as np

from clearformer.errors import TextError
from clearformer.models.kind import Configuration
from clearformer.text.counts import Counts
from clearformer.text.pair_ids import PairIds
from clearformer.text.pairs import Pair
from clearformer.text.tokenizer import Tokenizer, tokenizer_class
from clearformer.training.judged_pairs import judged_pairs
from clearformer.training.preparation import ModelFor, Prepared

Place = Callable[[int], str]
"""Says where the pair of a number stands."""


def pair_tokenizer(kind: str, pairs: Sequence[Pair], vocabulary: int | None) -> Tokenizer:
    """One tokenizer for both sides of all pairs.

    Raises:
        ConfigurationError: an unknown kind, or a vocabulary that this kind cannot have.
        TokenizerError: the pairs have nothing to make a vocabulary of.
    """
    made = tokenizer_class(kind)
    made.check_vocabulary(vocabulary)
    counts = Counts(made.most_pieces)
    for pair in pairs:
        for side in pair:
            counts.add(made.count(side))
    return made.from_counts(counts, vocabulary)


def prepare_pairs(
    train: Sequence[Pair],
    validation: Sequence[Pair],
    places: tuple[Place, Place],
    *,
    kind: str,
    vocabulary: int | None,
    model: ModelFor,
    fits: Callable[[Configuration], None],
    notes: Sequence[str],
) -> Prepared:
    """Fits tokenizer, model and pairs together.

    Args:
        train: pairs to learn from.
        validation: pairs to be judged by.
        places: say where a pair to learn from stands, and one to be judged by.
        kind: of tokenizer.
        vocabulary: at most so many tokens; None leaves it to the tokenizer.
        model: its configuration, by the size of the vocabulary.
        fits: refuses a model that needs more memory than there is.
        notes: what was noticed before.

    Raises:
        TextError: there is nothing to learn from, or a pair is longer than the model bears.
        ConfigurationError: the sizes are impossible, or larger than the machine.
    """
    fits(model(vocabulary or 2))  # refused before any work: these sizes fit no vocabulary
    if not train:
        raise TextError("there are no pairs to learn from beside those to be judged by; give more")
    tokenizer = pair_tokenizer(kind, [*train, *validation], vocabulary)
    configuration = model(tokenizer.vocabulary_size)
    fits(configuration)
    ids, judged = PairIds.of(tokenizer, train), judged_pairs(tokenizer, validation)
    require_lengths(ids, configuration.window, places[0])
    require_lengths(judged.pairs, configuration.window, places[1])
    found = list(notes)
    if not judged.is_enough:
        found.append(
            "there are no pairs to be judged by, as too few sources are different; no validation "
            "loss will be given"
        )
    return Prepared(tokenizer, ids, judged, configuration, tuple(found))


def prepared_pairs_again(
    train: Sequence[Pair],
    validation: Sequence[Pair],
    tokenizer: Tokenizer,
    model: Configuration,
    notes: Sequence[str],
) -> Prepared:
    """The same for a run that goes on: makes the ids."""
    ids, judged = PairIds.of(tokenizer, train), judged_pairs(tokenizer, validation)
    return Prepared(tokenizer, ids, judged, model, tuple(notes))


def require_lengths(pairs: PairIds, context: int, place: Place) -> None:
    """Refuses pairs longer than a model bears.

    Raises:
        TextError: naming the first.
    """
    for name, side in (("source", pairs.sources), ("target", pairs.targets)):
        long = np.flatnonzero(side.lengths >= context)
        if len(long):
            number, longest = int(long[0]), int(side.lengths.max())
            others = "this pair" if len(long) == 1 else f"the {len(long):,} pairs that are longer"
            raise TextError(
                f"{place(number)}: the {name} has {side.lengths[number]:,} tokens and its end, and "
                f"this model bears {context:,}; train with --context {longest + 1}, or leave out "
                f"{others}"
            )
