"""A model small enough to be measured in a moment, with something held out."""

from typing import Any

import numpy as np

from clearformer.comparison.trained import Trained
from clearformer.comparison.why.fading import awake
from clearformer.models.configuration import ModelConfiguration
from clearformer.models.kinds import build
from clearformer.text.tokenizer import build_tokenizer

TEXT = "the cat sat on the mat; the dog ran to the cat. a rat sat on a mat with the dog. " * 4


def tiny(dtype: Any = np.float64, **dials: Any) -> Trained:
    """A decoder with random weights, none of them zero, and a short text."""
    tokenizer = build_tokenizer("characters", TEXT)
    usual: dict[str, Any] = {"layers": 2, "heads": 2, "embed": 8, "context": 12}
    configuration = ModelConfiguration(tokenizer.vocabulary_size, **{**usual, **dials})
    model = awake(build(configuration, np.random.default_rng(3), dtype))
    names = tuple(tokenizer.token_text(id) for id in range(tokenizer.vocabulary_size))
    held_out = np.asarray(tokenizer.encode(TEXT), np.intp)
    return Trained("decoder", configuration, model, names, tokenizer, held_out)
