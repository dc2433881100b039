"""Time of one training step: batch, forward, backward, clipping, update; against PyTorch eager.

    python benchmarks/training_step.py
    python benchmarks/training_step.py --size medium --recipe classic --json
    python benchmarks/training_step.py --muon

Both sides start from the same weights, learn from random ids, in float32, on the same number of
threads, and take turns. A third side does nothing but the matrix products of such a step, in NumPy:
no engine that leaves its products to BLAS can be quicker. PyTorch is not installed by this script;
without it there is no ratio.
"""

import argparse
from collections.abc import Sequence

from clearformer.benchmarking.training_step import WORKLOADS, Setting, run
from clearformer.models.configuration import RECIPES
from report import show


def main(arguments: Sequence[str] | None = None) -> None:
    """Parses, measures, shows."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--size", choices=WORKLOADS, default="small", help="default: small")
    parser.add_argument("--recipe", choices=RECIPES, default="modern", help="default: modern")
    parser.add_argument(
        "--batch", type=int, help="sequences in a step; default: as the size has it"
    )
    parser.add_argument("--threads", type=int, default=2, help="of every side; default: 2")
    parser.add_argument("--turns", type=int, help="of each side; default: as the size has it")
    parser.add_argument("--steps", type=int, help="in each turn; default: as the size has it")
    parser.add_argument(
        "--keep-memory",
        action="store_true",
        help="measure PyTorch also with the glibc setting that clearformer makes for itself",
    )
    parser.add_argument(
        "--compile",
        action="store_true",
        help="measure clearformer's PyTorch engine also compiled, which takes a minute to start",
    )
    parser.add_argument(
        "--muon", action="store_true", help="measure clearformer also with the optimizer Muon"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    given = parser.parse_args(arguments)
    size = WORKLOADS[given.size]
    setting = Setting(given.size, given.recipe, given.batch or size.batch, given.threads)
    report = run(
        setting,
        given.turns or size.turns,
        given.steps or size.steps,
        given.keep_memory,
        given.compile,
        given.muon,
    )
    show(report, given.json)


if __name__ == "__main__":
    main()
