"""Tokens per second of one stream, with the key–value cache; against PyTorch eager.

A repeat is one whole generation after a prompt of one token, as `run.generate` does it: preparing
the weights, reading the prompt, every token drawn. Both sides have the same weights and windows.
Small products gain nothing from threads, so PyTorch is also measured with one. It is not installed
by this script; without it there is no ratio.
"""

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from importlib.util import find_spec

import numpy as np

from clearformer.benchmarking.interleave import Side, Work, blas_limited, blas_threads, measure
from clearformer.benchmarking.report import Report
from clearformer.generation.generate import generate
from clearformer.generation.sampling import Sampling
from clearformer.models.build import build_decoder
from clearformer.models.configuration import SIZES, ModelConfiguration, Recipe
from clearformer.models.decoder import Decoder

REPEATS = {"tiny": 32, "small": 16, "medium": 2, "large": 1}
"""Generations in a turn: about a second."""

MOST_TOKENS = 256
"""Tokens of a generation unless told otherwise, or the context where that is shorter."""


@dataclass(frozen=True)
class Setting:
    """What every side is told."""

    size: str
    recipe: Recipe
    vocabulary: int
    tokens: int
    temperature: float

    @property
    def configuration(self) -> ModelConfiguration:
        """The model."""
        return ModelConfiguration(self.vocabulary, recipe=self.recipe, **SIZES[self.size])

    def model(self) -> Decoder:
        """Random weights; those that training starts at zero are random, too."""
        rng = np.random.default_rng(0)

        def filled(name: str, weight: np.ndarray) -> np.ndarray:
            if weight.ndim < 2 or weight.any():
                return weight
            drawn = rng.standard_normal(weight.shape, np.float32)
            return self.scaled(name, drawn / np.float32(len(weight) ** 0.5))

        return build_decoder(self.configuration, rng).with_parameters(filled)

    def scaled(self, name: str, weight: np.ndarray) -> np.ndarray:
        """The weight of that name, of those that training starts at zero."""
        return weight

    def written(self, model: Decoder, rng: np.random.Generator) -> Iterator[int]:
        """A generation of clearformer, after a prompt of one token."""
        return generate(
            model,
            [0],
            self.tokens,
            context=self.configuration.context,
            sampling=Sampling(self.temperature),
            rng=rng,
        )

    def require(self, made: int) -> None:
        """Refuses a generation that ended early."""
        if made != self.tokens:
            raise RuntimeError(f"expected {self.tokens} tokens; got {made}")


def ours(setting: Setting, threads: int) -> Work:
    """The cached generation of clearformer."""
    model, rng = setting.model(), np.random.default_rng(0)
    with blas_limited(threads):
        yield blas_threads()
        while True:
            setting.require(len(list(setting.written(model, rng))))
            yield ""


def pytorch(setting: Setting, threads: int) -> Work:
    """The peer."""
    import torch

    from clearformer.benchmarking import peer_torch

    torch.set_num_threads(threads)
    model = peer_torch.Decoder(setting.configuration)
    model.load_from(setting.model())
    yield f"threads {torch.get_num_threads()}"
    while True:
        ids = peer_torch.generate(model, [0], setting.tokens, setting.temperature)
        setting.require(len(ids))
        yield ""


def named(side: str, threads: int) -> str:
    """What a side with so many threads is called."""
    return f"{side}, {threads} thread{'s' * (threads > 1)}"


def thread_counts(threads: int) -> list[int]:
    """How many threads a peer has, each in a side of its own; one may be quicker."""
    return sorted({threads, 1}, reverse=True)


def run(
    setting: Setting,
    threads: int,
    turns: int,
    repeats: int,
    progress: Callable[[float], None] | None = None,
) -> Report:
    """Measures all sides that are there."""
    settings = {**asdict(setting), "threads": threads, "turns": turns, "per_turn": repeats}
    report = Report("generation_speed", settings, "tokens per second (a ratio above 1 is faster)")
    report.look_around()
    sides = {"clearformer": Side(ours, setting=setting, threads=threads)}
    if find_spec("torch"):
        for count in thread_counts(threads):
            name = named("PyTorch eager", count)
            sides[name] = Side(pytorch, setting=setting, threads=count)
    else:
        report.note("PyTorch is not installed, so there is no ratio to it (pip install torch)")
    report.about = {name: side.about for name, side in sides.items()}
    taken = measure(sides, turns, repeats, progress)
    report.take({name: [setting.tokens / seconds for seconds in taken[name]] for name in taken})
    return report
