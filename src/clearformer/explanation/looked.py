"""What attention looked at in one sentence: who looks, at what, and how much."""

from dataclasses import dataclass

import numpy as np

from clearformer.errors import ConfigurationError
from clearformer.explanation.pair_page import is_alignment
from clearformer.explanation.pair_subject import PairSubject
from clearformer.explanation.trace import Trace
from clearformer.tensor import Float

MOST = 128
"""Tokens that a picture has room for on each side."""


@dataclass(frozen=True)
class Looked:
    """The weights of one head, or the mean over the heads of a model on pairs."""

    name: str
    """Of the stage."""
    queries: tuple[str, ...]
    """The tokens that look; of a model on pairs those of the target."""
    keys: tuple[str, ...]
    """The tokens that are looked at; of a model on pairs those of the source."""
    weights: Float[np.ndarray, "query key"]
    """A row for each token that looks; each adds up to 1."""

    @property
    def seen(self) -> list[list[float]]:
        """The weights as lists, each without the end that its token gives nothing."""
        lengths = (np.max(np.flatnonzero(row), initial=-1) + 1 for row in self.weights)
        return [row[:length].tolist() for row, length in zip(self.weights, lengths, strict=True)]


def looked_at(trace: Trace) -> Looked:
    """The first layer that a trace holds, and its first head, as `explain` shows them.

    Raises:
        ConfigurationError: the model has no attention.
    """
    pairs = isinstance(trace.subject, PairSubject)
    for stage in trace:
        if is_alignment(stage.name) if pairs else stage.name.endswith(".attention.weights"):
            tables = stage.values[0]
            if "head" in stage.axes:
                tables = tables.mean(0) if pairs else tables[0]
            queries = trace["target_tokens"].tolist() if pairs else trace.tokens
            if max(tables.shape) > MOST:
                raise ConfigurationError(
                    f"a picture shows at most {MOST} tokens; got {max(tables.shape):,}; "
                    "give a shorter sentence, or leave out --picture"
                )
            return Looked(stage.name, tuple(queries), trace.tokens, np.nan_to_num(tables))
    raise ConfigurationError(
        "there is no attention in this model, so there is nothing to draw; leave out --picture"
    )
