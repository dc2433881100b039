"""The Transformer as its paper has it: an encoder reads the source, a decoder looks at it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from clearformer.models.block import Block
from clearformer.models.cache import KeyValueCache
from clearformer.models.dropout import Dropout
from clearformer.models.embedding import Embedding, Output, ScaledEmbedding
from clearformer.models.linear import Unchanged
from clearformer.models.norms import LayerNorm, RMSNorm
from clearformer.models.pairs.cross_block import CrossBlock, KeyValue
from clearformer.models.pairs.marks import MARKS, begin_of
from clearformer.models.pairs.memory import Lengths, Memory, padded
from clearformer.models.part import Part
from clearformer.models.positions import NothingAdded, SinusoidalPositions
from clearformer.models.tap import Tap, silent, under
from clearformer.tensor import Float, Int, Tensor


@dataclass(frozen=True)
class SourceEncoder(Part):
    """Blocks in which every position of a source sees all others."""

    positions: SinusoidalPositions | NothingAdded
    blocks: tuple[Block, ...]
    norm: LayerNorm | RMSNorm | Unchanged
    dropout: Dropout

    def __call__(
        self,
        x: Float[Tensor, "batch source embed"],
        lengths: Lengths = None,
        tap: Tap = silent,
        rng: np.random.Generator | None = None,
    ) -> Memory:
        """What was made of each position."""
        there = Memory(x, lengths).there
        allowed = None if there is None else there[:, None]
        x = self.dropout(self.positions(x, 0, tap), rng)
        for number, block in enumerate(self.blocks):
            x = block(x, under(tap, f"blocks.{number}"), None, rng, allowed)
        return Memory(tap("norm", self.norm(x)), lengths)


@dataclass(frozen=True)
class TargetDecoder(Part):
    """Blocks that see the target so far, and the source."""

    positions: SinusoidalPositions | NothingAdded
    blocks: tuple[CrossBlock, ...]
    norm: LayerNorm | RMSNorm | Unchanged
    dropout: Dropout

    def read(self, memory: Memory) -> tuple[KeyValue, ...]:
        """Keys and values of the source, for each block."""
        return tuple(block.cross.read(memory.outputs) for block in self.blocks)

    def __call__(
        self,
        x: Float[Tensor, "batch target embed"],
        sources: Sequence[KeyValue],
        memory: Memory,
        tap: Tap = silent,
        cache: KeyValueCache | None = None,
        rng: np.random.Generator | None = None,
    ) -> Float[Tensor, "batch target embed"]:
        """What was made of each position."""
        start = cache.length if cache else 0
        there = None if memory.there is None else memory.there[:, None]
        x = self.dropout(self.positions(x, start, tap), rng)
        for number, block in enumerate(self.blocks):
            layer = cache.layers[number] if cache else None
            x = block(x, sources[number], there, under(tap, f"blocks.{number}"), layer, rng)
        return tap("norm", self.norm(x))


class CrossDecodingState:
    """The source, its keys and values in each block, and those of the target so far."""

    def __init__(self, memory: Memory, sources: Sequence[KeyValue], longest: int) -> None:
        self.memory, self.sources = memory, tuple(sources)
        self.cache = KeyValueCache(len(self.sources), longest)

    def take(self, rows: Int[np.ndarray, " rows"]) -> None:
        """Goes on with some of the rows, each perhaps several times."""
        self.memory = self.memory.take(rows)
        self.sources = tuple((key[rows], value[rows]) for key, value in self.sources)
        self.cache.take(rows)


@dataclass(frozen=True)
class EncoderDecoder(Part):
    """Vaswani et al., "Attention Is All You Need", 2017, figure 1.

    Source and target share one table of tokens (their section 3.4); its last two rows are the
    marks.
    """

    embedding: Embedding | ScaledEmbedding
    encoder: SourceEncoder
    decoder: TargetDecoder
    output: Output

    @property
    def vocabulary(self) -> int:
        """Tokens without the marks."""
        return int(self.embedding.table.shape[0]) - MARKS

    def __call__(
        self,
        sources: Int[Tensor, "batch source"],
        inputs: Int[Tensor, "batch target"] | None = None,
        lengths: Lengths = None,
        tap: Tap = silent,
        rng: np.random.Generator | None = None,
    ) -> Float[Tensor, "batch target tokens"]:
        """The scores of every token as the next one, at each position of the target.

        Args:
            sources: ids, each row with its end, filled up behind it.
            inputs: the begin, and the target as far as it is known; None for the begin alone.
            lengths: of the sources, each with its end; None where nothing is filled up.
            tap: hears, and may replace, every intermediate.
            rng: draws dropout; None outside training.
        """
        memory = self.encode(sources, lengths, tap, rng)
        if inputs is None:
            inputs = np.full((sources.shape[0], 1), begin_of(self.vocabulary))
        return self._decode(inputs, self.decoder.read(memory), memory, tap, None, rng)

    def encode(
        self,
        sources: Int[Tensor, "batch source"],
        lengths: Lengths = None,
        tap: Tap = silent,
        rng: np.random.Generator | None = None,
    ) -> Memory:
        """Reads sources."""
        told = under(tap, "encoder")
        x = told("embedding", self.embedding(sources))
        return self.encoder(x, padded(lengths, sources.shape[1]), told, rng)

    def begin(self, memory: Memory, longest: int) -> CrossDecodingState:
        """Before the first step of at most `longest`."""
        return CrossDecodingState(memory, self.decoder.read(memory), longest)

    def step(
        self, ids: Int[Tensor, " batch"], state: CrossDecodingState
    ) -> Float[Tensor, "batch tokens"]:
        """Reads one token of each row; the scores of the next ones."""
        column: Any = ids
        logits = self._decode(
            column[:, None],
            state.sources,
            state.memory,
            silent,
            state.cache,
        )
        return logits[:, -1]

    def _decode(
        self,
        inputs: Any,
        sources: Sequence[KeyValue],
        memory: Memory,
        tap: Tap,
        cache: KeyValueCache | None = None,
        rng: np.random.Generator | None = None,
    ) -> Any:
        told = under(tap, "decoder")
        x = told("embedding", self.embedding(inputs))
        found = self.decoder(x, sources, memory, told, cache, rng)
        return tap("logits", self.output(found, self.embedding))
