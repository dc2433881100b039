"""The names of a stage's axes, and which head of it is shown."""

from dataclasses import dataclass
from typing import Any

import numpy as np

RESIDUAL = ("batch", "seq", "embed")
SCORES = ("batch", "head", "query", "key")
QUERY = ("batch", "head", "query", "width")
KEY = ("batch", "head", "key", "width")
HIDDEN = ("batch", "seq", "hidden")
VOCABULARY = ("batch", "seq", "vocab")

STAGE_AXES: dict[str, tuple[str, ...]] = {
    "tokens": ("seq",),
    "ids": ("batch", "seq"),
    "embedding": RESIDUAL,
    "shifted": RESIDUAL,
    "position": ("seq", "embed"),
    "positioned": RESIDUAL,
    "norm_1": RESIDUAL,
    "attention.query": QUERY,
    "attention.key": KEY,
    "attention.value": KEY,
    "attention.key_transposed": ("batch", "head", "width", "key"),
    "attention.products": SCORES,
    "attention.scores": SCORES,
    "attention.masked_scores": SCORES,
    "attention.weights": SCORES,
    "attention.mixed": QUERY,
    "attention.output": RESIDUAL,
    "after_attention": RESIDUAL,
    "norm_2": RESIDUAL,
    "feed_forward.hidden": HIDDEN,
    "feed_forward.activated": HIDDEN,
    "feed_forward.output": RESIDUAL,
    "after_feed_forward": RESIDUAL,
    "input_gate": HIDDEN,
    "forget_gate": HIDDEN,
    "reset_gate": HIDDEN,
    "update_gate": HIDDEN,
    "candidate": HIDDEN,
    "cell": HIDDEN,
    "output_gate": HIDDEN,
    "hidden": HIDDEN,
    "norm": RESIDUAL,
    "projected": RESIDUAL,
    "logits": VOCABULARY,
    "probabilities": VOCABULARY,
}
"""By the name of a stage within its layer, in the order in which the stages happen."""

LAYERS = ("blocks", "layers")
"""What the repeated part of a model may be called."""


def split_name(name: str) -> tuple[int | None, str]:
    """`blocks.2.attention.scores` → (2, `attention.scores`); (None, name) outside the layers."""
    first, _, rest = name.partition(".")
    number, _, within = rest.partition(".")
    if first in LAYERS and number.isdecimal() and within:
        return int(number), within
    return None, name


@dataclass(frozen=True)
class HeadView:
    """What is shown of the head axis: all heads, or one of them without the axis.

    A model with one head is shown without the axis, too: its tables are (batch, query, key).
    """

    heads: int
    chosen: int | None

    def axes(self, name: str) -> tuple[str, ...]:
        """The axes of the stage as it is shown."""
        axes = STAGE_AXES[split_name(name)[1]]
        return tuple(axis for axis in axes if axis != "head" or self._one is None)

    def shown(self, name: str, x: np.ndarray) -> np.ndarray:
        """The part of `x` that is shown."""
        shown: np.ndarray = x[self._part(name, x)]
        return shown

    def put_back(self, name: str, x: np.ndarray, shown: np.ndarray) -> np.ndarray:
        """A copy of `x` in which the shown part is `shown`."""
        result = np.array(x)
        result[self._part(name, x)] = shown
        return result

    @property
    def _one(self) -> int | None:
        return 0 if self.heads == 1 else self.chosen

    def _part(self, name: str, x: np.ndarray) -> Any:
        if self._one is None or "head" not in STAGE_AXES[split_name(name)[1]]:
            return ...
        # Keys and values may have fewer heads, each shared by neighbouring heads of the queries.
        return slice(None), self._one * x.shape[1] // self.heads
