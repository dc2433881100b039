"""Sides that take turns; they live in the package, where `clearformer bench` uses them, too."""

from clearformer.benchmarking.interleave import (
    Side,
    Work,
    blas_threads,
    measure,
    take_turns,
)

__all__ = ["Side", "Work", "blas_threads", "measure", "take_turns"]
