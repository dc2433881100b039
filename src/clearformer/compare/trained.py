"""A model that a comparison has trained, as the measurements of why want it."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from clearformer.models.kind import Configuration
from clearformer.text.tokenizer import Tokenizer


@dataclass(frozen=True)
class Trained:
    """The model of an entrant's first seed."""

    name: str
    """Of the entrant, as in the document."""
    configuration: Configuration
    model: Any
    """In NumPy arrays."""
    vocabulary: tuple[str, ...]
    """What a person is shown for each id."""
    tokenizer: Tokenizer | None
    """None in a task."""
    held_out: np.ndarray
    """Ids that it has not learned from: of a text (seq), of a task of rows the inputs (rows, seq).
    """
