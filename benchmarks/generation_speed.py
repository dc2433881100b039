"""Tokens per second of one stream, with the key–value cache; against PyTorch eager.

    python benchmarks/generation_speed.py
    python benchmarks/generation_speed.py --size large --vocabulary 50257 --tokens 256 --json

A repeat is one whole generation after a prompt of one token, as `run.generate` does it: preparing
the weights, reading the prompt, every token drawn. Both sides have the same weights and windows.
Small products gain nothing from threads, so PyTorch is also measured with one. It is not installed
by this script; without it there is no ratio.
"""

import argparse
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib.util import find_spec

import numpy as np
from threadpoolctl import threadpool_limits

from clearformer.generation.generate import generate
from clearformer.generation.sampling import Sampling
from clearformer.models.build import build_decoder
from clearformer.models.configuration import RECIPES, SIZES, ModelConfiguration, Recipe
from clearformer.models.decoder import Decoder
from interleave import Side, Work, blas_threads, measure
from report import Report

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
            return rng.standard_normal(weight.shape, np.float32) / np.float32(len(weight) ** 0.5)

        return build_decoder(self.configuration, rng).with_parameters(filled)


def ours(setting: Setting, threads: int) -> Work:
    """The cached generation of clearformer."""
    model, rng = setting.model(), np.random.default_rng(0)
    with threadpool_limits(threads, user_api="blas"):
        yield blas_threads()
        while True:
            ids = generate(
                model,
                [0],
                setting.tokens,
                context=setting.configuration.context,
                sampling=Sampling(setting.temperature),
                rng=rng,
            )
            _require(setting, len(list(ids)))
            yield ""


def pytorch(setting: Setting, threads: int) -> Work:
    """The peer."""
    import torch

    import peer_torch

    torch.set_num_threads(threads)
    model = peer_torch.Decoder(setting.configuration)
    model.load_from(setting.model())
    yield f"threads {torch.get_num_threads()}"
    while True:
        ids = peer_torch.generate(model, [0], setting.tokens, setting.temperature)
        _require(setting, len(ids))
        yield ""


def _require(setting: Setting, made: int) -> None:
    if made != setting.tokens:
        raise RuntimeError(f"expected {setting.tokens} tokens; got {made}")


def run(setting: Setting, threads: int, turns: int, repeats: int) -> Report:
    """Measures all sides that are there."""
    settings = {**asdict(setting), "threads": threads, "turns": turns, "per_turn": repeats}
    report = Report("generation_speed", settings, "tokens per second (a ratio above 1 is faster)")
    report.look_around()
    sides = {"clearformer": Side(ours, setting=setting, threads=threads)}
    if find_spec("torch"):
        for count in sorted({threads, 1}, reverse=True):
            name = f"PyTorch eager, {count} thread{'s' * (count > 1)}"
            sides[name] = Side(pytorch, setting=setting, threads=count)
    else:
        report.note("PyTorch is not installed, so there is no ratio to it (pip install torch)")
    report.about = {name: side.about for name, side in sides.items()}
    taken = measure(sides, turns, repeats)
    report.take({name: [setting.tokens / seconds for seconds in taken[name]] for name in taken})
    return report


def main(arguments: Sequence[str] | None = None) -> None:
    """Parses, measures, shows."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--size", choices=SIZES, default="small", help="default: small")
    parser.add_argument("--recipe", choices=RECIPES, default="modern", help="default: modern")
    parser.add_argument("--vocabulary", type=int, default=65, help="default: 65")
    parser.add_argument("--tokens", type=int, help="in a generation; default: context, at most 256")
    parser.add_argument("--temperature", type=float, default=0.8, help="0 is greedy; default: 0.8")
    parser.add_argument("--threads", type=int, default=2, help="of both sides; default: 2")
    parser.add_argument("--turns", type=int, default=9, help="of each side; default: 9")
    parser.add_argument("--repeats", type=int, help="in a turn; default: as the size has it")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    given = parser.parse_args(arguments)
    tokens = given.tokens or min(SIZES[given.size]["context"], MOST_TOKENS)
    setting = Setting(given.size, given.recipe, given.vocabulary, tokens, given.temperature)
    report = run(setting, given.threads, given.turns, given.repeats or REPEATS[given.size])
    report.show(given.json)


if __name__ == "__main__":
    main()
