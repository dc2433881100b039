"""What the default recipe reaches on a text: validation loss, parameters, seconds.

    python benchmarks/quality.py TEXT
    python benchmarks/quality.py TEXT --seeds 0 1 2 --json
    python benchmarks/quality.py TEXT --minutes 0.2

Trains as `clearformer train TEXT` does, in a temporary folder, once for each seed, one after the
other. The loss is over every position of the last 10 % of the text, which is not trained on.
"""

import argparse
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import clearformer as cf
from clearformer.engines.threads import suitable_workers
from clearformer.models.configuration import RECIPES, SIZES
from clearformer.training.events import Reporter, Step
from clearformer.training.options import TrainingOptions
from report import Report

SHARES = 10
"""Progress is told so many times in a run."""


class Progress(Reporter):
    """Tells how far the training is, on standard error."""

    def __init__(self, report: Report, seed: int):
        self._report, self._seed, self._told = report, seed, 0

    def note(self, text: str) -> None:
        """Keeps what was adjusted: the figures depend on it."""
        self._report.note(f"seed {self._seed}: {text}")

    def step(self, step: Step) -> None:
        """A line now and then."""
        if int(step.progress * SHARES) > self._told:
            self._told = int(step.progress * SHARES)
            self._report.progress(f"seed {self._seed}: step {step.step:,}, loss {step.loss:.3f}")


def one_run(text: Path, seed: int, dials: dict[str, Any], reporter: Reporter) -> dict[str, Any]:
    """Trains once; returns the summary of the run with `wall_seconds`, which counts everything."""
    begun = time.perf_counter()
    with TemporaryDirectory() as folder:
        run = cf.train(text, out=Path(folder) / "run", seed=seed, reporter=reporter, **dials)
    summary = dict(run.summary or {})
    summary.pop("run", None)  # the folder is gone
    return {"seed": seed, **summary, "wall_seconds": time.perf_counter() - begun}


def run(text: Path, seeds: Sequence[int], dials: dict[str, Any]) -> Report:
    """One run for each seed; the spread is between seeds."""
    workers = dials.get("workers") or suitable_workers(
        dials.get("batch") or TrainingOptions().batch
    )
    settings = {"text": text.name, "seeds": list(seeds), **dials, "workers": workers}
    report = Report("quality", settings, "over seeds", compares=False)
    report.look_around()
    results = [one_run(text, seed, dials, Progress(report, seed)) for seed in seeds]
    report.extra["results"] = results
    report.lines = [line(result) for result in results]
    for name in ("validation_loss", "bits_per_character", "seconds", "wall_seconds"):
        samples = [result[name] for result in results if result[name] is not None]
        report.take({name: samples} if samples else {})
    report.about = {
        "validation_loss": "nats per token, every position of the validation part",
        "seconds": "of training steps",
        "wall_seconds": "with reading, evaluating, sampling and saving",
    }
    return report


def line(result: Mapping[str, Any]) -> str:
    """One seed, for a person."""
    loss = result["validation_loss"]
    return (
        f"  seed {result['seed']}: loss {'unknown' if loss is None else format(loss, '.4f')}, "
        f"{result['parameters']:,} parameters, {result['steps']:,} steps, {result['seconds']:.1f} s"
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Parses, trains, shows."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("text", type=Path, metavar="TEXT", help="file to learn from")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0], help="default: 0")
    parser.add_argument("--steps", type=int, help="default: 2,000")
    parser.add_argument("--minutes", type=float, help="train for so long instead")
    parser.add_argument("--batch", type=int, help="default: that of `clearformer train`, 12")
    parser.add_argument("--size", choices=SIZES, help="default: small")
    parser.add_argument("--recipe", choices=RECIPES, help="default: modern")
    parser.add_argument("--workers", type=int, help="threads; default: as many as processors")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    given = vars(parser.parse_args(arguments))
    text, seeds, as_json = (given.pop(name) for name in ("text", "seeds", "json"))
    dials = {name: value for name, value in given.items() if value is not None}
    try:
        run(text, seeds, dials).show(as_json)
    except cf.ClearformerError as error:
        sys.exit(f"quality: {error}")


if __name__ == "__main__":
    main()
