"""The dials of word vectors, checked when made."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from clearformer.errors import ConfigurationError

LIMITS = {
    "embed": (2, 10_000),
    "window": (1, 1_000),
    "negatives": (1, 10_000),
    "least": (1, 2**53),
    "epochs": (1, 2**53),
    "seed": (0, 2**53),
}
"""The smallest and the largest of each whole number."""

LARGEST_NUMBER = 1e6


@dataclass(frozen=True)
class WordOptions:
    """How words become vectors; the letters are those of Mikolov et al. (2013)."""

    embed: int = 100
    """Numbers in each vector."""
    window: int = 5
    """Words to either side that count as context, at most (c); how many is drawn from 1 up."""
    negatives: int = 5
    """Words of noise that count against each word of context (k)."""
    least: int = 5
    """Words that occur less often are left out."""
    epochs: int = 10
    """How often the text is gone through."""
    seed: int = 0
    """Decides the first vectors, and what is drawn."""
    learning_rate: float = 0.2
    """Step of Adagrad: how far a number moves the first time."""
    threshold: float = 1e-3
    """Share of the text from which a word is so frequent that some of it is passed over (t)."""

    def __post_init__(self) -> None:
        for name, (least, most) in LIMITS.items():
            value = getattr(self, name)
            if type(value) is not int or not least <= value <= most:
                raise ConfigurationError(
                    f"{name} must be a whole number between {least} and {most:,}; got {value!r}"
                )
        for name in ("learning_rate", "threshold"):
            value = getattr(self, name)
            if type(value) not in (int, float) or not 0 < value <= LARGEST_NUMBER:
                raise ConfigurationError(
                    f"{name} must be a number above 0, at most {LARGEST_NUMBER:g}; got {value!r}"
                )

    def to_json(self) -> dict[str, Any]:
        """A dictionary for JSON."""
        return asdict(self)

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> "WordOptions":
        """The options in a document.

        Raises:
            ConfigurationError: a name is missing or unknown, or a value impossible.
        """
        if set(document) != set(cls.__dataclass_fields__):
            raise ConfigurationError(f"expected the dials {', '.join(cls.__dataclass_fields__)}")
        return cls(**document)
