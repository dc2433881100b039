"""How quickly things start, in fresh processes; with `--memory`, how memory grows while training.

    python benchmarks/start.py
    python benchmarks/start.py --first-step
    python benchmarks/start.py --memory --json

Wall time of whole processes that take turns: Python alone, with NumPy, with clearformer, and two
commands. What clearformer adds is the difference from NumPy in the same turn. A command that fails
is reported as failed and not timed. `--first-step` is the time from the start of `train` to its
first step done, for Python's documentation and for a megabyte of it.
"""

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import clearformer as cf
from clearformer.benchmarking.start import PEER, first_step, starts
from clearformer.engines.threads import suitable_workers
from clearformer.text.corpus import default_corpus
from clearformer.training.events import Reporter, Step
from clearformer.training.options import TrainingOptions
from report import Report, progress, show

MEGABYTE = 1_000_000

MARKS = (200, 500, 1000, 1500, 2000)
"""Updates after which memory is read."""


class MemoryReader(Reporter):
    """Reads how much memory this process holds, after some of the steps."""

    def __init__(self, report: Report, steps: int):
        self._report, self._steps = report, steps
        self.held: dict[int, float] = {}

    def step(self, step: Step) -> None:
        """At a mark, and at the end."""
        if step.step in MARKS or step.step == self._steps:
            self.held[step.step] = resident()
            progress(f"step {step.step:,}: {self.held[step.step]:.1f} MB")


def resident() -> float:
    """Memory of this process that is in use now, in megabytes.

    Raises:
        OSError: where there is no /proc, that is, elsewhere than on Linux.
    """
    pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def most_resident() -> float:
    """The most this process ever held, in megabytes."""
    import resource

    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6


def memory(steps: int) -> Report:
    """Trains by default on the documentation of Python; reads memory on the way."""
    settings = {"steps": steps, "workers": suitable_workers(TrainingOptions().batch)}
    report = Report("memory", settings, "megabytes resident", compares=False)
    reader = MemoryReader(report, steps)
    before = resident()
    with TemporaryDirectory() as folder:
        cf.train(out=Path(folder) / "run", steps=steps, reporter=reader)
    peak = most_resident()
    report.extra = {"before": before, "after_step": reader.held, "peak": peak}
    report.lines = [f"  before training    {before:7.1f}"]
    report.lines += [f"  after step {step:7,} {held:7.1f}" for step, held in reader.held.items()]
    report.lines += [f"  most at any time   {peak:7.1f}"]
    return report


def first_steps(turns: int) -> Report:
    """From the start of `train` to its first step, on two texts."""
    text = default_corpus().text
    longer = (text * (MEGABYTE // len(text) + 1))[:MEGABYTE]
    report = Report("first step", {"turns": turns}, "seconds of a fresh process", compares=False)
    for name, each in {"documentation of Python": text, "a megabyte": longer}.items():
        found = first_step(each, turns)
        report.sides |= {name: found.sides["clearformer"], "import numpy": found.sides[PEER]}
        report.notes = found.notes
    return report


def main(arguments: Sequence[str] | None = None) -> None:
    """Parses, measures, shows."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--turns", type=int, default=15, help="of each command; default: 15")
    parser.add_argument("--memory", action="store_true", help="measure memory of a training run")
    parser.add_argument("--steps", type=int, default=2000, help="of that run; default: 2,000")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    parser.add_argument("--first-step", action="store_true", help="until the first step of train")
    given = parser.parse_args(arguments)
    if given.memory:
        show(memory(given.steps), given.json)
    elif given.first_step:
        show(first_steps(given.turns), given.json)
    else:
        show(starts(given.turns), given.json)


if __name__ == "__main__":
    main()
