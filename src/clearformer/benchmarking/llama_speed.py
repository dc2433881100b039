"""Tokens per second of a decoder of Llama's pieces; against a C program and Hugging Face's Llama.

The model is made of the pieces that both have (RMS norms, turned queries and keys, SwiGLU), of as
many weights, and no window slides. Every side is timed from its first token to its last, as such
programs time themselves.
"""

import os
import tempfile
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from clearformer.benchmarking.generation_speed import Setting, named, thread_counts
from clearformer.benchmarking.interleave import Side, Work, blas_limited, blas_threads, measure
from clearformer.benchmarking.peer_c import END, CProgram
from clearformer.benchmarking.report import Report
from clearformer.generation.plan import is_compiled
from clearformer.models.configuration import SIZES, ModelConfiguration

C_PROGRAM, HUGGING_FACE = "C program", "Hugging Face"

COMPILED = "CLEARFORMER_COMPILED"
"""The environment variable by which users have kernels compiled, or not."""

AS_CHOSEN: Mapping[str, str | None] = {"clearformer": None}
"""Plain or compiled, as clearformer chooses by itself or the environment says."""

BOTH_WAYS: Mapping[str, str | None] = {
    "clearformer": "never",
    "clearformer compiled": "always",
}
"""Plain, and beside it compiled."""


@dataclass(frozen=True)
class LlamaSetting(Setting):
    """What every side is told; at least two tokens."""

    @property
    def configuration(self) -> ModelConfiguration:
        """The model; its context is no shorter than the text."""
        sizes: dict[str, Any] = dict(SIZES[self.size])
        sizes["context"] = max(sizes["context"], self.tokens)
        pieces: dict[str, Any] = {
            "activation": "swiglu",
            "query_key_norm": False,
            "token_shift": False,
        }
        return ModelConfiguration(self.vocabulary, recipe="modern", **pieces, **sizes)

    def scaled(self, name: str, weight: np.ndarray) -> np.ndarray:
        """Large scores for every token but the one that ends a C program, which has 0."""
        if name != "output.linear.weight":
            return weight
        large = weight * np.float32(8)
        large[:, END] = 0
        return large

    def of_all(self, seconds: float) -> float:
        """What all tokens would take, if those after the first took so long."""
        return seconds * self.tokens / (self.tokens - 1)


def ours(setting: LlamaSetting, threads: int, compiled: str | None) -> Work:
    """The cached generation of clearformer."""
    if compiled:
        os.environ[COMPILED] = compiled
    model, rng = setting.model(), np.random.default_rng(0)
    way = "compiled" if is_compiled(model, setting.tokens) else "plain NumPy"
    with blas_limited(threads):
        yield f"{blas_threads()}, {way}"
        while True:
            ids = setting.written(model, rng)
            next(ids)
            begun = time.perf_counter()
            rest = len(list(ids))
            seconds = time.perf_counter() - begun
            setting.require(1 + rest)
            yield setting.of_all(seconds)


def hugging_face(setting: LlamaSetting, threads: int) -> Work:
    """A peer. The first token's share is measured alone and taken away."""
    import torch

    from clearformer.benchmarking import peer_transformers

    torch.set_num_threads(threads)
    make = peer_transformers.generator(setting.configuration)
    yield f"threads {torch.get_num_threads()}"
    while True:
        times = []
        for tokens in (1, setting.tokens):
            begun = time.perf_counter()
            made = make(tokens, setting.temperature)
            times.append(time.perf_counter() - begun)
        setting.require(made)
        yield setting.of_all(times[1] - times[0])


def run(
    setting: LlamaSetting,
    threads: int,
    turns: int,
    repeats: int,
    program: Path | None = None,
    *,
    ways: Mapping[str, str | None] = BOTH_WAYS,
    peers: Collection[str] = (C_PROGRAM, HUGGING_FACE),
    progress: Callable[[float], None] | None = None,
) -> Report:
    """Measures all sides that are there.

    Args:
        setting: the model, and what it writes.
        threads: of every side; a peer is also measured with one.
        turns: of each side.
        repeats: generations in a turn.
        program: the C program; None if there is none.
        ways: our own sides, each with what CLEARFORMER_COMPILED is there.
        peers: those that are asked for.
        progress: hears the share that is done.

    Raises:
        ConfigurationError: the C program is not there.
        ClearformerError: a side failed.
    """
    settings = {**asdict(setting), "llama": True, "threads": threads, "turns": turns}
    settings["per_turn"] = repeats
    report = Report("generation_speed", settings, "tokens per second (a ratio above 1 is faster)")
    report.look_around()
    with tempfile.TemporaryDirectory() as folder:
        others = {}
        if C_PROGRAM in peers:
            others = _c_programs(report, setting, threads, repeats, program, Path(folder))
        sides = _ours(report, setting, threads, ways)
        if HUGGING_FACE in peers:
            sides |= _hugging_face(report, setting, threads)
        report.about = {name: side.about for name, side in sides.items()}
        taken = measure(sides, turns, repeats, progress, others)
    report.take({name: [setting.tokens / seconds for seconds in taken[name]] for name in taken})
    if others:  # the best number of threads is the peer of every side of ours
        report.peer = max(others, key=lambda name: report.sides[name].median)
    return report


def _ours(
    report: Report, setting: LlamaSetting, threads: int, ways: Mapping[str, str | None]
) -> dict[str, Side]:
    if "always" in ways.values() and not find_spec("numba"):
        report.note("numba is not installed, so nothing is compiled (pip install numba)")
        ways = {name: way for name, way in ways.items() if way != "always"}
    return {
        name: Side(ours, setting=setting, threads=threads, compiled=way)
        for name, way in ways.items()
    }


def _hugging_face(report: Report, setting: LlamaSetting, threads: int) -> dict[str, Side]:
    for package, title in {"transformers": "transformers", "torch": "PyTorch"}.items():
        if not find_spec(package):
            report.note(f"{title} is not installed, so there is no ratio to Hugging Face")
            return {}
    return {
        named(HUGGING_FACE, count): Side(hugging_face, setting=setting, threads=count)
        for count in thread_counts(threads)
    }


def _c_programs(
    report: Report,
    setting: LlamaSetting,
    threads: int,
    repeats: int,
    program: Path | None,
    folder: Path,
) -> dict[str, Callable[[], float]]:
    """A taker of turns for each number of threads."""
    if program is None:
        report.note("no C program was named, so there is no ratio to one (--c-program PATH)")
        return {}
    peer = CProgram(program, folder, setting.configuration, setting.model())

    def taker(count: int) -> Callable[[], float]:
        def seconds() -> float:
            rates = [peer.rate(setting.tokens, setting.temperature, count) for _ in range(repeats)]
            return sum(setting.tokens / rate for rate in rates) / repeats

        return seconds

    return {named(C_PROGRAM, count): taker(count) for count in thread_counts(threads)}
