"""A kind of model: the configuration that describes it, and the function that builds it."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any, ClassVar, Literal, TypeVar

import numpy as np

from clearformer.errors import ConfigurationError
from clearformer.models.activations import WIDE
from clearformer.models.part import Part

C = TypeVar("C", bound="Configuration")

LARGEST = 2**40  # no size of a model comes near; keeps every product below exact

Build = Callable[[Any, np.random.Generator | None, Any], Part]
"""build(configuration, rng, dtype): fresh random weights; all zero without a generator."""


@dataclass(frozen=True)
class Configuration(ABC):
    """What every model has; subclasses are frozen dataclasses, checked when made.

    A configuration is saved beside the weights, so that what one version of the library trained
    another can read.
    """

    kind: ClassVar[str]
    """Under this name `models.kinds` finds it; run.json keeps it."""

    before: ClassVar[Mapping[str, object]] = {}
    """Fields that earlier versions did not have, with what those models were: left out of what is
    saved where they are that."""

    worth_a_thread: ClassVar[int] = 130_000_000
    """Multiplications and additions of a step in one layer that make up for sharing it with one
    more thread (measured on a decoder: see the log); with a process, see `runs.workers`."""

    vocabulary: int
    """Tokens the model knows."""

    @property
    def completed(self: C) -> C:
        """The same configuration with every None filled in."""
        return self

    @property
    def usual_optimizer(self) -> str:
        """By what such a model learns best, as far as was tried."""
        return "adamw"

    @property
    @abstractmethod
    def parameter_count(self) -> int:
        """How many numbers the model learns, in exact integers, before anything is allocated."""

    @property
    @abstractmethod
    def layers(self) -> int:
        """Layers or blocks, one above the other; each a part that processes can share out."""

    @property
    def in_layer(self) -> int:
        """How many numbers one layer more would learn."""
        more = replace(self, layers=self.layers + 1)  # type: ignore[call-arg]  # a field of all
        return more.parameter_count - self.parameter_count

    @property
    def in_matrices(self) -> int:
        """Numbers of which there is a narrow copy where products are in 16 bits, at most."""
        return self.parameter_count

    @abstractmethod
    def operations(self, rows: int) -> int:
        """Multiplications and additions in the products of a step on so many rows."""

    @abstractmethod
    def kept_numbers(self, rows: int) -> int:
        """Numbers that so many rows keep until their gradient has passed, at most (an estimate)."""

    def kept_on_torch(self, rows: int, precision: str, on_gpu: bool) -> int:
        """Bytes that a step on so many rows keeps on PyTorch, at most (an estimate).

        As many numbers as on NumPy, and wide copies of the matrices that are read in 16 bits:
        recurrent layers compute in float32.

        Args:
            rows: of full length, at once.
            precision: of the products, float32 or bfloat16.
            on_gpu: whether it computes on a GPU, where some copies are narrower.
        """
        copies = 0 if precision == "float32" else self.in_matrices
        return WIDE * (self.kept_numbers(rows) + copies)

    @property
    @abstractmethod
    def window(self) -> int:
        """Tokens in one row of a batch."""

    @property
    def sees(self) -> int | None:
        """Tokens that a prediction can draw on at most; None where there is no limit."""
        return self.window

    def with_window(self: C, window: int) -> C:
        """The same with shorter rows, for a text that is short."""
        return replace(self, context=window)  # type: ignore[call-arg]  # of those that have one

    @property
    def drops(self) -> bool:
        """Whether dropout is drawn while training."""
        return getattr(self, "dropout", 0.0) > 0

    @property
    def title(self) -> str:
        """What a person calls such a model."""
        return self.kind

    @property
    @abstractmethod
    def in_words(self) -> str:
        """Its sizes, in one or two lines of at most 40 characters."""

    def batch_in_words(self, batch: int) -> str:
        """What so many rows of a batch hold."""
        return f"{batch} × {self.window} tokens"

    def to_json(self) -> dict[str, Any]:
        """A dictionary for JSON, complete, so that later versions read what this one meant."""
        whole = asdict(self.completed)
        return {
            name: value
            for name, value in whole.items()
            if not (name in self.before and value == self.before[name])
        }

    @classmethod
    def from_json(cls: type[C], document: Mapping[str, Any]) -> C:
        """The configuration in a document; an unknown key is refused.

        Raises:
            ConfigurationError: naming what was wrong.
        """
        unknown = sorted(set(document) - {field.name for field in fields(cls)})
        if unknown or "vocabulary" not in document:
            raise ConfigurationError(
                f"model configuration: unknown {unknown}" if unknown else "vocabulary is missing"
            )
        return cls(**{**cls.before, **document})


@dataclass(frozen=True)
class Kind:
    """One kind of model."""

    configuration: type[Configuration]
    build: Build
    sizes: Mapping[str, Mapping[str, Any]]
    """What `--size` sets, by its name."""
    choices: Mapping[str, tuple[str, ...]]
    """Values that a field may have, for those with names."""
    reads: Literal["text", "pairs"] = "text"
    """What it learns from: a text, or pairs of texts."""
    fills: bool = False
    """Whether it fills in blanks, each a `<mask>` in the text, instead of writing on."""
    brief: Mapping[str, Any] = field(default_factory=dict)
    """Sizes that differ from small where time is short and nobody has named any."""

    @property
    def name(self) -> str:
        """As `--model` wants it."""
        return self.configuration.kind

    @property
    def dials(self) -> tuple[str, ...]:
        """Fields that a person may set; the vocabulary follows from the text."""
        return tuple(f.name for f in fields(self.configuration) if f.name != "vocabulary")


def check_size(name: str, value: Any) -> None:
    """Refuses what cannot be a size.

    Raises:
        ConfigurationError: it is no whole number, or below 1, or beyond all machines.
    """
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= LARGEST:
        limit = f"at most {LARGEST:,}" if isinstance(value, int) and value > 1 else "at least 1"
        raise ConfigurationError(f"{name} must be a whole number of {limit}; got {value!r}")


def check_choice(name: str, value: Any, known: tuple[str, ...]) -> None:
    """Refuses a name that is none of those known.

    Raises:
        ConfigurationError: with those there are.
    """
    if value not in known:
        raise ConfigurationError(f"{name} must be one of {', '.join(known)}; got {value!r}")


def check_dropout(value: Any) -> None:
    """Refuses what cannot be a share to drop.

    Raises:
        ConfigurationError: it is not at least 0 and below 1.
    """
    if isinstance(value, bool) or not (isinstance(value, int | float) and 0 <= value < 1):
        raise ConfigurationError(f"dropout must be at least 0 and below 1; got {value}")
