"""Clearformer: a Transformer with clear walls.

>>> import clearformer as cf
>>> run = cf.train("my-text.txt", steps=500)  # doctest: +SKIP
>>> run.generate("Once upon")  # doctest: +SKIP

Importing this module loads nothing; each name is loaded when it is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from clearformer.version import __version__

if TYPE_CHECKING:
    from clearformer.checking.check import Check, check
    from clearformer.checking.testing import assert_correct
    from clearformer.cli.comparison_display import ComparisonDisplay
    from clearformer.cli.progress import TrainingDisplay
    from clearformer.comparison.compare import compare
    from clearformer.comparison.document import Comparison
    from clearformer.comparison.events import Listener
    from clearformer.engines.tape import value_and_gradients
    from clearformer.errors import ClearformerError
    from clearformer.explanation.explain import explain
    from clearformer.generation.sampling import sample
    from clearformer.models.configuration import ModelConfiguration
    from clearformer.models.measures import perplexity
    from clearformer.models.one_hot import one_hot
    from clearformer.models.positions import sinusoidal_positions
    from clearformer.models.scaled_dot_product import attention, self_attention
    from clearformer.ops import cross_entropy, softmax
    from clearformer.runs.run import Run, load
    from clearformer.runs.train import train
    from clearformer.training.events import Reporter
    from clearformer.words.training import word_vectors
    from clearformer.words.vectors import WordVectors

_HOMES = {
    "Check": "checking.check",
    "ClearformerError": "errors",
    "Comparison": "comparison.document",
    "ComparisonDisplay": "cli.comparison_display",
    "Listener": "comparison.events",
    "ModelConfiguration": "models.configuration",
    "Reporter": "training.events",
    "Run": "runs.run",
    "TrainingDisplay": "cli.progress",
    "WordVectors": "words.vectors",
    "assert_correct": "checking.testing",
    "attention": "models.scaled_dot_product",
    "check": "checking.check",
    "compare": "comparison.compare",
    "cross_entropy": "ops",
    "explain": "explanation.explain",
    "load": "runs.run",
    "one_hot": "models.one_hot",
    "perplexity": "models.measures",
    "sample": "generation.sampling",
    "self_attention": "models.scaled_dot_product",
    "sinusoidal_positions": "models.positions",
    "softmax": "ops",
    "train": "runs.train",
    "value_and_gradients": "engines.tape",
    "word_vectors": "words.training",
}

__all__ = [
    "Check",
    "ClearformerError",
    "Comparison",
    "ComparisonDisplay",
    "Listener",
    "ModelConfiguration",
    "Reporter",
    "Run",
    "TrainingDisplay",
    "WordVectors",
    "__version__",
    "assert_correct",
    "attention",
    "check",
    "compare",
    "cross_entropy",
    "explain",
    "load",
    "one_hot",
    "perplexity",
    "sample",
    "self_attention",
    "sinusoidal_positions",
    "softmax",
    "train",
    "value_and_gradients",
    "word_vectors",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'clearformer' has no attribute {name!r}")
    value = getattr(import_module(f"clearformer.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
