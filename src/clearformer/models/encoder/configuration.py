"""What an encoder is made of: sizes and recipe of a decoder, and how much is masked."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from math import ceil
from typing import Any, ClassVar

from clearformer.errors import ConfigurationError
from clearformer.models.configuration import ModelConfiguration


@dataclass(frozen=True)
class EncoderConfiguration(ModelConfiguration):
    """Sizes and pieces of an encoder: those of a decoder, and how much of a window is masked."""

    kind: ClassVar[str] = "encoder"

    masked: float = 0.15
    """Share of the tokens of each window that are predicted, 0 < masked ≤ 1."""

    def __post_init__(self) -> None:
        super().__post_init__()
        share = self.masked
        if isinstance(share, bool) or not (isinstance(share, int | float) and 0 < share <= 1):
            raise ConfigurationError(f"masked must be above 0 and at most 1; got {share!r}")

    @property
    def usual_optimizer(self) -> str:
        """Muon was tried on decoders only."""
        return "adamw"

    @property
    def pieces(self) -> Mapping[str, Any]:
        """Those of a decoder; but its neighbours on both sides it sees by attention alone."""
        return {**super().pieces, "token_shift": False}

    @property
    def mask(self) -> int:
        """The id of the mask, the first beyond those of the tokenizer: the vocabulary's size."""
        return self.vocabulary

    @property
    def stack(self) -> ModelConfiguration:
        """A decoder of the same sizes that knows the mask as one token more."""
        names = [field.name for field in fields(ModelConfiguration) if field.name != "vocabulary"]
        given = {name: getattr(self, name) for name in names}
        given["token_shift"] = self.completed.token_shift
        return ModelConfiguration(self.vocabulary + 1, **given)

    @property
    def parameter_count(self) -> int:
        """How many numbers the model learns: the mask has a row in the embedding table."""
        return super().parameter_count + self.embed

    @property
    def predicted(self) -> int:
        """Tokens of a window that are predicted, the same number in each."""
        return max(1, round(self.masked * self.context))

    @property
    def passes(self) -> int:
        """In so many readings, with no more masked in any, each token can be masked once."""
        return ceil(round(1 / self.masked, 9))

    @property
    def title(self) -> str:
        """With its recipe."""
        return f"{self.recipe} encoder"
