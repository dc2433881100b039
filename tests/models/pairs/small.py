"""Small models on pairs with weights that matter, and rows of several lengths."""

import numpy as np
import pytest

from clearformer.models.kinds import KINDS, build
from clearformer.models.pairs.marks import begin_of, end_of

VOCABULARY = 11
BEGIN, END = begin_of(VOCABULARY), end_of(VOCABULARY)

VARIANTS = {
    "gru, no attention": ("seq2seq", {"attention": "none"}),
    "gru, dot": ("seq2seq", {"attention": "dot", "layers": 2}),
    "gru, additive": ("seq2seq", {"attention": "additive"}),
    "lstm, both ways": ("seq2seq", {"cell": "lstm", "bidirectional": True, "layers": 2}),
    "rnn, both ways": ("seq2seq", {"cell": "rnn", "bidirectional": True, "attention": "none"}),
    "modern transformer": ("encoder-decoder", {"heads": 2}),
    "classic transformer": ("encoder-decoder", {"heads": 2, "recipe": "classic", "tied": True}),
}

every_model = pytest.mark.parametrize("name", VARIANTS)


def configuration(name, **dials):
    kind, chosen = VARIANTS[name]
    return KINDS[kind].configuration(
        VOCABULARY, **{"embed": 8, "hidden": 6, "context": 12, **chosen, **dials}
    )


def random_model(name, dtype=np.float64, **dials):
    """Also what begins at zero is random: nothing hides behind a zero."""
    rng = np.random.default_rng(0)
    fresh = build(configuration(name, **dials), rng, dtype)
    return fresh.with_parameters(
        lambda _, p: (p + 0.4 * rng.standard_normal(p.shape)).astype(dtype)
    )


def batch():
    """Sources of 7, 4 and 5 positions, and inputs of 6."""
    rng = np.random.default_rng(1)
    lengths = np.array([7, 4, 5])
    sources = rng.integers(0, VOCABULARY, (3, 7))
    sources[np.arange(7) >= lengths[:, None] - 1] = END
    inputs = rng.integers(0, VOCABULARY, (3, 6))
    inputs[:, 0] = BEGIN
    return sources, lengths, inputs
