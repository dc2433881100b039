"""The recurrent encoder–decoder: one network reads the source, another writes the target."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from clearformer.models.dropout import Dropout
from clearformer.models.embedding import Embedding, UntiedOutput
from clearformer.models.pairs.alignment import Alignment
from clearformer.models.pairs.marks import MARKS, begin_of
from clearformer.models.pairs.memory import Lengths, Memory, States, padded
from clearformer.models.pairs.recurrent_encoder import RecurrentEncoder
from clearformer.models.part import Part
from clearformer.models.recurrent.layers import RecurrentLayer
from clearformer.models.tap import Tap, silent, under
from clearformer.tensor import Float, Int, Tensor


@dataclass(frozen=True)
class RecurrentDecoder(Part):
    """Recurrent layers that begin where those of the encoder have ended, and then look back."""

    layers: tuple[RecurrentLayer, ...]
    attention: Alignment
    dropout: Dropout

    def __call__(
        self,
        x: Float[Tensor, "batch target embed"],
        memory: Memory,
        before: States,
        tap: Tap = silent,
        rng: np.random.Generator | None = None,
    ) -> tuple[Float[Tensor, "batch target hidden"], States]:
        """What was made of each position, and the states for the next."""
        result: Any = self.dropout(x, rng)
        states = []
        for number, layer in enumerate(self.layers):
            result, after = layer(result, before[number], under(tap, f"layers.{number}"))
            states.append(after)
            result = self.dropout(result, rng)
        return self.attention(result, memory, under(tap, "attention")), tuple(states)


class RecurrentDecodingState:
    """The source, and the states of the layers."""

    def __init__(self, memory: Memory) -> None:
        self.memory, self.states = memory, memory.states

    def take(self, rows: Int[np.ndarray, " rows"]) -> None:
        """Goes on with some of the rows, each perhaps several times."""
        self.memory = self.memory.take(rows)
        self.states = tuple(tuple(state[rows] for state in layer) for layer in self.states)


@dataclass(frozen=True)
class Seq2Seq(Part):
    """Sutskever et al., "Sequence to Sequence Learning with Neural Networks", 2014.

    Source and target share one table of tokens; its last two rows are the marks.
    """

    embedding: Embedding
    encoder: RecurrentEncoder
    decoder: RecurrentDecoder
    output: UntiedOutput

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
        return self._decode(inputs, memory, memory.states, tap, rng)[0]

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

    def begin(self, memory: Memory, longest: int) -> RecurrentDecodingState:
        """Before the first step; there is no limit to their number."""
        return RecurrentDecodingState(memory)

    def step(
        self, ids: Int[Tensor, " batch"], state: RecurrentDecodingState
    ) -> Float[Tensor, "batch tokens"]:
        """Reads one token of each row; the scores of the next ones."""
        column: Any = ids
        logits, state.states = self._decode(column[:, None], state.memory, state.states)
        return logits[:, -1]

    def _decode(
        self,
        inputs: Any,
        memory: Memory,
        before: States,
        tap: Tap = silent,
        rng: np.random.Generator | None = None,
    ) -> tuple[Any, States]:
        told = under(tap, "decoder")
        x = told("embedding", self.embedding(inputs))
        found, after = self.decoder(x, memory, before, told, rng)
        return tap("logits", self.output(found, self.embedding)), after
