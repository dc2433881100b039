"""Trained-like runs in memory: random weights everywhere, so that nothing is zero."""

from functools import cache
from pathlib import Path

import numpy as np

from clearformer.models.build import build_decoder
from clearformer.models.configuration import ModelConfiguration
from clearformer.runs.run import Run
from clearformer.text.tokenizer import build_tokenizer

TEXT = "To be, or not to be: that is the question.\n吾輩は猫である。"


@cache  # nothing in a run changes, so tests may share one
def run_of(kind: str = "characters", text: str = TEXT, **options: object) -> Run:
    """A run whose weights are all random."""
    tokenizer = build_tokenizer(kind, text, 300 if kind == "bytepair" else None)
    sizes = {"layers": 2, "heads": 4, "embed": 16, "context": 24, **options}
    configuration = ModelConfiguration(tokenizer.vocabulary_size, **sizes)  # type: ignore[arg-type]
    rng = np.random.default_rng(1)
    model = build_decoder(configuration, rng).with_parameters(
        lambda _, x: rng.standard_normal(x.shape, np.float32) / 2
    )
    return Run(model, tokenizer, configuration, Path("runs/test"), 7, 0)
