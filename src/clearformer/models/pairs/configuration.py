"""What both models on pairs are made of: sizes, checked when made, saved beside the weights."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

from clearformer.errors import ConfigurationError
from clearformer.models.configuration import LARGEST_SCORE, ModelConfiguration, Recipe
from clearformer.models.kind import Configuration, check_choice, check_dropout, check_size
from clearformer.models.pairs.marks import MARKS
from clearformer.models.recurrent.configuration import (
    GRUConfiguration,
    LSTMConfiguration,
    RecurrentConfiguration,
    RNNConfiguration,
)

CELLS: dict[str, type[RecurrentConfiguration]] = {
    kind.kind: kind for kind in (GRUConfiguration, LSTMConfiguration, RNNConfiguration)
}

ALIGNMENTS = ("none", "dot", "additive")


@dataclass(frozen=True)
class PairConfiguration(Configuration):
    """What is common to models that read a source and write a target."""

    worth_a_thread: ClassVar[int] = 400_000_000

    layers: int = 1
    """Layers or blocks, as many to read as to write."""
    embed: int = 128
    """Width of the vectors of tokens."""
    context: int = 64
    """Tokens of the longest source, and of the longest target, each with its end."""
    dropout: float = 0.0
    """Share of numbers dropped while training, 0 ≤ dropout < 1."""
    teacher_forcing: float = 1.0
    """How often a decoder is told the right token before while it learns, instead of its own
    choice."""

    def __post_init__(self) -> None:
        for name in ("vocabulary", "layers", "embed", "context"):
            check_size(name, getattr(self, name))
        check_dropout(self.dropout)
        rate = self.teacher_forcing
        if isinstance(rate, bool) or not (isinstance(rate, int | float) and 0 <= rate <= 1):
            raise ConfigurationError(f"teacher_forcing must be between 0 and 1; got {rate}")

    @property
    def tokens(self) -> int:
        """Rows of the table: the vocabulary and the marks."""
        return self.vocabulary + MARKS

    @property
    def window(self) -> int:
        """A row of a batch holds a source and a target."""
        return self.context

    def batch_in_words(self, batch: int) -> str:
        """Rows are as long as the longest of them."""
        return f"{batch} pair{'s' * (batch != 1)}"


@dataclass(frozen=True)
class Seq2SeqConfiguration(PairConfiguration):
    """Of the recurrent encoder–decoder."""

    kind: ClassVar[str] = "seq2seq"

    hidden: int | None = None
    """Width of the states. Unless given: twice that of the vectors of tokens."""
    cell: str = "gru"
    """gru, lstm or rnn."""
    attention: str = "dot"
    """How the decoder looks back at the source: none, dot or additive."""
    bidirectional: bool = False
    """Whether the source is read from both sides."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.hidden is not None:
            check_size("hidden", self.hidden)
        check_choice("cell", self.cell, tuple(CELLS))
        check_choice("attention", self.attention, ALIGNMENTS)
        if not isinstance(self.bidirectional, bool):
            raise ConfigurationError(
                f"bidirectional must be true or false; got {self.bidirectional!r}"
            )

    @property
    def completed(self) -> "Seq2SeqConfiguration":
        """The same with the width of the states filled in."""
        return self if self.hidden is not None else replace(self, hidden=self.width)

    @property
    def width(self) -> int:
        """Of the states."""
        return 2 * self.embed if self.hidden is None else self.hidden

    @cached_property
    def side(self) -> RecurrentConfiguration:
        """A recurrent model with the layers that read, or write, in one direction."""
        return CELLS[self.cell](
            self.tokens, layers=self.layers, embed=self.embed, context=1, hidden=self.width
        )

    @property
    def parameter_count(self) -> int:
        """How many numbers the model learns, in exact integers, before anything is allocated."""
        tables = self.tokens * (self.embed + self.width)
        layers = self.side.parameter_count - tables  # its table of tokens and its output
        return tables + (2 + self.bidirectional) * layers + self._alignment

    @property
    def _alignment(self) -> int:
        """Parameters with which the decoder looks back."""
        square = self.width**2
        return {"none": 0, "dot": 2 * square, "additive": 4 * square + self.width}[self.attention]

    def operations(self, rows: int) -> int:
        """Two for each number that multiplies, at each position; twice as many backwards."""
        looked = 0 if self.attention == "none" else 2 * self.context * self.width
        if self.attention == "additive":
            looked += self.context * self.width
        matrices = self.parameter_count - self.tokens * self.embed
        return 6 * rows * self.context * (matrices + looked)

    def kept_numbers(self, rows: int) -> int:
        """Of each layer its input, its gates forwards and backwards, its states; the scores."""
        width = self.width
        layers = self.layers * (2 + self.bidirectional) * ((3 * self.side.gates + 8) * width)
        looked = {"none": 0, "dot": 3 * self.context, "additive": 3 * self.context * (width + 1)}
        each = layers + looked[self.attention] + 6 * width + 6 * self.embed + 3 * self.tokens
        return rows * self.context * each

    @property
    def title(self) -> str:
        """With its cell, and how it looks back."""
        looks = {"none": "without attention", "dot": "with attention"}
        return f"{self.cell.upper()} seq2seq {looks.get(self.attention, 'with additive attention')}"

    @property
    def in_words(self) -> str:
        """Layers and widths."""
        both = ", both ways" if self.bidirectional else ""
        return (
            f"{self.layers} layer{'s' * (self.layers > 1)}{both}, hidden {self.width},\n"
            f"embed {self.embed}, context {self.context}"
        )


@dataclass(frozen=True)
class EncoderDecoderConfiguration(PairConfiguration):
    """Of the Transformer that reads a source and writes a target."""

    kind: ClassVar[str] = "encoder-decoder"
    worth_a_thread: ClassVar[int] = 270_000_000
    before: ClassVar[Mapping[str, object]] = {"largest_score": None}

    layers: int = 2
    """Blocks, as many to read as to write."""
    heads: int = 4
    """Attention heads in each block; they share out `embed` among them."""
    hidden: int | None = None
    """Width of the feed-forward layer. Unless given: 4 · embed."""
    recipe: Recipe = "modern"
    """Which pieces are taken: modern or classic, as for a decoder."""
    tied: bool = False
    """Whether the output uses the embedding table."""
    largest_score: float | None = LARGEST_SCORE
    """Score of a normalised query and key of the same direction; None: √(embed / heads)."""

    def __post_init__(self) -> None:
        super().__post_init__()
        _ = self.side  # checks the rest

    @property
    def completed(self) -> "EncoderDecoderConfiguration":
        """The same with the width of the feed-forward layer filled in."""
        return self if self.hidden is not None else replace(self, hidden=4 * self.embed)

    @cached_property
    def side(self) -> ModelConfiguration:
        """A decoder whose blocks are those of the encoder, and those of this decoder in part."""
        return ModelConfiguration(
            self.tokens,
            layers=self.layers,
            heads=self.heads,
            embed=self.embed,
            context=self.context,
            hidden=self.hidden,
            recipe=self.recipe,
            tied=self.tied,
            dropout=self.dropout,
            largest_score=self.largest_score,
            token_shift=False,
        ).completed

    @property
    def parameter_count(self) -> int:
        """How many numbers the model learns, in exact integers, before anything is allocated."""
        tables = self.tokens * self.embed * (1 if self.tied else 2)
        stack = self.side.parameter_count - tables
        norm = self.embed * (2 if self.side.norm == "layer" else 1)
        cross = 4 * (self.embed**2 + self.embed * bool(self.side.bias)) + norm
        return tables + 2 * stack + self.layers * cross

    def operations(self, rows: int) -> int:
        """Two for each number that multiplies, at each position; twice as many backwards."""
        looked = 3 * self.layers * 2 * self.context * self.embed
        matrices = self.parameter_count - self.tokens * self.embed * (not self.tied)
        return 6 * rows * self.context * (matrices + looked)

    def kept_numbers(self, rows: int) -> int:
        """Of each block its vectors, scores and feed-forward layer; the scores of tokens."""
        hidden = self.completed.hidden or 0
        block = 16 * self.embed + 3 * hidden + 3 * self.heads * self.context
        each = 2 * self.layers * block + self.layers * (8 * self.embed + 3 * self.heads)
        return rows * self.context * (each + 8 * self.embed + 3 * self.tokens)

    @property
    def title(self) -> str:
        """With its recipe."""
        return f"{self.recipe} encoder–decoder"

    @property
    def in_words(self) -> str:
        """Layers, heads and widths."""
        return (
            f"{self.layers} + {self.layers} layers, {self.heads} head{'s' * (self.heads > 1)},\n"
            f"embed {self.embed}, context {self.context}"
        )
