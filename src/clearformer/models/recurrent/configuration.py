"""What a recurrent model is made of: sizes, checked when made, saved beside the weights."""

from dataclasses import dataclass, replace
from typing import ClassVar

from clearformer.errors import ConfigurationError
from clearformer.models.kind import (
    LARGEST,
    Configuration,
    check_choice,
    check_dropout,
    check_size,
)

BLOCKS = 2
"""Blocks of a decoder that weigh as much as one layer here, where no width is given."""

RESETS = ("after", "before")


@dataclass(frozen=True)
class RecurrentConfiguration(Configuration):
    """Sizes of a recurrent model; what is None follows from the rest (see `completed`)."""

    worth_a_thread: ClassVar[int] = 170_000_000
    gates: ClassVar[int]
    """Sums of input and state that a step computes."""
    cell: ClassVar[str]
    """What a person calls one layer."""
    states: ClassVar[tuple[str, ...]] = ("hidden",)
    """What a layer hands on from step to step, each as wide as `hidden`."""

    layers: int = 2
    """Layers, one above the other."""
    embed: int = 128
    """Width of the vectors of tokens."""
    context: int = 64
    """Tokens through which a gradient goes back; what was read before is remembered all the same.
    """
    hidden: int | None = None
    """Width of the state. Unless given: as wide as makes the model as large as a decoder of the
    same embed and vocabulary with twice as many layers."""
    tied: bool = False
    """Whether the output uses the embedding table."""
    dropout: float = 0.0
    """Share of numbers dropped between layers while training, 0 ≤ dropout < 1."""

    def __post_init__(self) -> None:
        for name in ("vocabulary", "layers", "embed", "context"):
            check_size(name, getattr(self, name))
        if self.hidden is not None:
            check_size("hidden", self.hidden)
        if not isinstance(self.tied, bool):
            raise ConfigurationError(f"tied must be true or false; got {self.tied!r}")
        check_dropout(self.dropout)

    @property
    def completed(self) -> "RecurrentConfiguration":
        """The same with the width of the state filled in."""
        return self if self.hidden is not None else replace(self, hidden=self._equal_width())

    @property
    def parameter_count(self) -> int:
        """How many numbers the model learns, in exact integers, before anything is allocated."""
        return self._parameters(self._width)

    @property
    def in_layer(self) -> int:
        """How many numbers a layer learns that is not the first."""
        width = self._width
        return 2 * self.gates * width * width + self._biases(width)

    def operations(self, rows: int) -> int:
        """Two for each number that multiplies, at each position; twice as many backwards."""
        width, matrices = self._width, 0
        for inputs in self._inputs(width):
            matrices += self.gates * width * (inputs + width)
        matrices += width * self.embed if self.tied else 0
        matrices += self.vocabulary * (self.embed if self.tied else width)
        return 6 * rows * self.context * matrices

    def kept_numbers(self, rows: int) -> int:
        """Of each layer its input, its gates forwards and backwards, and its states; the scores."""
        width = self._width
        layers = sum((3 * self.gates + 6) * width + 2 * inputs for inputs in self._inputs(width))
        return rows * self.context * (layers + 3 * self.embed + 3 * self.vocabulary)

    @property
    def window(self) -> int:
        """Tokens that are read before the gradient goes back."""
        return self.context

    @property
    def sees(self) -> None:
        """There is no limit: the state has been told of everything."""
        return None

    @property
    def title(self) -> str:
        """Such as LSTM."""
        return self.cell

    @property
    def in_words(self) -> str:
        """Layers and widths."""
        return (
            f"{self.layers} layer{'s' * (self.layers > 1)}, hidden {self._width},\n"
            f"embed {self.embed}, context {self.context}"
        )

    @property
    def _width(self) -> int:
        return self._equal_width() if self.hidden is None else self.hidden

    def _inputs(self, width: int) -> list[int]:
        """How wide the input of each layer is."""
        return [self.embed] + [width] * (self.layers - 1)

    def _biases(self, width: int) -> int:
        """Numbers of bias in one layer."""
        return self.gates * width

    def _parameters(self, width: int) -> int:
        # in closed form: a thousand million layers are counted as quickly as two
        total = self.vocabulary * self.embed
        total += self.gates * width * (self.embed + (self.layers - 1) * width)
        total += self.layers * (self.gates * width * width + self._biases(width))
        return total + (width * self.embed if self.tied else self.vocabulary * width)

    def _equal_width(self) -> int:
        """The width whose parameters come nearest to those of a decoder's blocks and tables."""
        tables = self.vocabulary * self.embed * (1 if self.tied else 2)
        wanted = 12 * BLOCKS * self.layers * self.embed**2 + tables
        low, high = 1, LARGEST
        while low < high:  # the first width that has at least as many
            middle = (low + high) // 2
            low, high = (low, middle) if self._parameters(middle) >= wanted else (middle + 1, high)
        below = max(low - 1, 1)
        nearer = wanted - self._parameters(below) < self._parameters(low) - wanted
        return below if nearer else low


@dataclass(frozen=True)
class RNNConfiguration(RecurrentConfiguration):
    """Of the plain recurrent network (Elman, 1990)."""

    kind: ClassVar[str] = "rnn"
    gates: ClassVar[int] = 1
    cell: ClassVar[str] = "RNN"


@dataclass(frozen=True)
class LSTMConfiguration(RecurrentConfiguration):
    """Of long short-term memory (Hochreiter and Schmidhuber, 1997; Gers et al., 2000)."""

    kind: ClassVar[str] = "lstm"
    gates: ClassVar[int] = 4
    cell: ClassVar[str] = "LSTM"
    states: ClassVar[tuple[str, ...]] = ("hidden", "cell")


@dataclass(frozen=True)
class GRUConfiguration(RecurrentConfiguration):
    """Of the gated recurrent unit (Cho et al., 2014)."""

    kind: ClassVar[str] = "gru"
    gates: ClassVar[int] = 3
    cell: ClassVar[str] = "GRU"
    worth_a_thread: ClassVar[int] = 450_000_000

    reset: str = "after"
    """Where the reset gate stands: after the product with the state (PyTorch's way), or before it
    (the paper's)."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice("reset", self.reset, RESETS)

    def _biases(self, width: int) -> int:
        return (4 if self.reset == "after" else 3) * width
