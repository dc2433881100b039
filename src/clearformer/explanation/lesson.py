"""The model of a first lesson: one block, small enough to follow, built from the real layers."""

from math import sqrt

import numpy as np

from clearformer import ops
from clearformer.errors import ConfigurationError, TextError
from clearformer.explanation.subject import Subject
from clearformer.models.attention import Attention
from clearformer.models.block import Block
from clearformer.models.configuration import ModelConfiguration
from clearformer.models.decoder import Decoder
from clearformer.models.dropout import Dropout
from clearformer.models.embedding import Embedding, UntiedOutput
from clearformer.models.feed_forward import FeedForward
from clearformer.models.linear import Linear, Unchanged
from clearformer.models.positions import SinusoidalPositions
from clearformer.models.token_shift import NothingShifted
from clearformer.text.words import Words
from clearformer.training.memory import in_words

POSITIONS = 20
"""Rows of the table of positions, unless the sentence is longer."""
LONGEST = 512
"""Tokens; a lesson is about one sentence, and its score table has this number squared."""
LARGEST = 2**28
"""Bytes of weights; far above any lesson, and small enough to be made at once."""
PROJECTIONS = ("shared", "separate")


def lesson(
    sentence: str, *, embed: int, heads: int, projections: str, causal: bool, seed: int
) -> Subject:
    """A sentence in front of an untrained model of one block.

    Raises:
        ConfigurationError: for sizes that do not go together, or that no lesson needs.
        TextError: for a sentence that is too long.
    """
    tokenizer = Words.of(sentence)
    ids = tuple(tokenizer.encode(sentence).tolist())
    if len(ids) > LONGEST:
        raise TextError(
            f"a lesson explains one sentence of at most {LONGEST} tokens; "
            f"this one has {len(ids):,}; give a shorter one"
        )
    _check(tokenizer.vocabulary_size, embed, heads, projections, seed)
    positions = max(POSITIONS, len(ids))
    notes: tuple[str, ...] = ()
    if positions > POSITIONS:
        notes = (
            f"the sentence has {len(ids)} tokens, so the table of positions has as many rows "
            f"instead of {POSITIONS}",
        )
    builder = _Builder(embed, heads, projections == "separate", causal, seed)
    model = builder.decoder(tokenizer.vocabulary_size, positions)
    return Subject(model, tokenizer, ids, sentence, notes=notes, seed=seed)


def _check(vocabulary: int, embed: int, heads: int, projections: str, seed: int) -> None:
    if projections not in PROJECTIONS:
        raise ConfigurationError(f"projections must be shared or separate; got {projections!r}")
    if not isinstance(seed, int) or isinstance(seed, bool) or seed < 0:
        raise ConfigurationError(f"seed must be a whole number of at least 0; got {seed!r}")
    sizes = ModelConfiguration(
        vocabulary, layers=1, heads=heads, embed=embed, context=POSITIONS, recipe="classic"
    )
    needed = 4 * sizes.parameter_count
    if needed > LARGEST:
        raise ConfigurationError(
            f"a lesson with embed={embed} would need {in_words(needed)} for its weights; at most "
            f"{in_words(LARGEST)} are given to a lesson; try --embed 8"
        )


class _Builder:
    """Draws the matrices in a fixed order, so that the embedding is the same in every variant."""

    def __init__(self, embed: int, heads: int, separate: bool, causal: bool, seed: int):
        self.embed, self.heads, self.separate, self.causal = embed, heads, separate, causal
        self.rng = np.random.default_rng(seed)

    def decoder(self, vocabulary: int, positions: int) -> Decoder:
        embedding = Embedding(self.rng.standard_normal((vocabulary, self.embed), np.float32))
        output = self._linear(self.embed, vocabulary, 1 / self.embed)  # begins undecided
        feed_forward = FeedForward(
            self._linear(self.embed, 4 * self.embed),
            self._linear(4 * self.embed, self.embed),
            ops.gelu,
        )
        nothing = Unchanged()
        block = Block(nothing, self._attention(), nothing, feed_forward, Dropout(0.0))
        return Decoder(
            embedding,
            NothingShifted(),
            SinusoidalPositions(positions),
            (block,),
            nothing,
            UntiedOutput(output),
            Dropout(0.0),
        )

    def _attention(self) -> Attention:
        query, key, value, output = (self._projection() for _ in range(4))
        return Attention(
            query,
            key,
            value,
            output,
            norm=Unchanged(),
            positions=Unchanged(),
            heads=self.heads,
            key_value_heads=self.heads,
            causal=self.causal,
        )

    def _projection(self) -> Linear | Unchanged:
        return self._linear(self.embed, self.embed) if self.separate else Unchanged()

    def _linear(self, inputs: int, outputs: int, spread: float | None = None) -> Linear:
        drawn = self.rng.standard_normal((inputs, outputs), np.float32)
        return Linear(drawn * np.float32(spread or 1 / sqrt(inputs)))
