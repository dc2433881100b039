"""What saves cost: their share of the time of a run at the default interval, and one save alone.

    python benchmarks/saving.py
    python benchmarks/saving.py --size medium --minutes 5 --folder /mnt/disk --json

Trains by default on the documentation of Python and times every save that comes on the way. Then
the same weights and optimizer state are saved again and again, and what a save spends its time on
is told. How quick it is depends on the disk: `--folder` chooses one.
"""

import argparse
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import clearformer as cf
from clearformer.engines.threads import suitable_workers
from clearformer.models.configuration import SIZES
from clearformer.training import checkpoint, durable, saves
from clearformer.training.events import Reporter, Step
from clearformer.training.options import TrainingOptions
from clearformer.training.session import Session
from report import Figures, Report

BATCHES = {"small": 12, "medium": 16}
"""Sequences in a step, as in the other benchmarks; for other sizes what `train` takes."""


class Watch(Reporter):
    """Times the saves of a run, and the run from its first step to its last."""

    def __init__(self, report: Report):
        self._report = report
        self.saves: list[float] = []
        self.begun = self.ended = self._save_begun = 0.0

    def step(self, step: Step) -> None:
        """The first starts the clock."""
        self.ended = time.perf_counter()
        self.begun = self.begun or self.ended - step.seconds

    def saved(self, step: int) -> None:
        """A save is done."""
        self.ended = time.perf_counter()
        self.saves.append(self.ended - self._save_begun)
        self._report.progress(f"step {step:,}: saved in {1e3 * self.saves[-1]:.0f} ms")

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Inside, every save of a session is timed, with all that it checks before it writes."""
        save = Session.save

        def timed(session: Session) -> None:
            self._save_begun = time.perf_counter()
            save(session)

        Session.save = timed  # type: ignore[assignment, method-assign]
        try:
            yield
        finally:
            Session.save = save  # type: ignore[method-assign]


class Parts:
    """Seconds that a save spends in some of its parts."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Inside, these functions are timed."""
        replaced = [
            (durable, "sync", "syncing files"),
            (checkpoint, "sync_folder", "syncing folders"),
            (saves, "rotate", "checking and removing older ones"),
        ]
        before = [getattr(module, name) for module, name, _ in replaced]
        for (module, name, part), function in zip(replaced, before, strict=True):
            setattr(module, name, self._timed(part, function))
        try:
            yield
        finally:
            for (module, name, _), function in zip(replaced, before, strict=True):
                setattr(module, name, function)

    def _timed(self, part: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def timed(*arguments: Any) -> Any:
            begun = time.perf_counter()
            try:
                return function(*arguments)
            finally:
                taken = time.perf_counter() - begun
                self.seconds[part] = self.seconds.get(part, 0.0) + taken

        return timed


def train(size: str, minutes: float, workers: int, folder: Path, report: Report) -> Path:
    """Trains with the default interval and reports the share of the saves; returns the run."""
    watch = Watch(report)
    with watch.watching():
        run = cf.train(
            out=folder / "run",
            size=size,
            minutes=minutes,
            batch=BATCHES.get(size, TrainingOptions().batch),
            workers=workers,
            evaluations=1,
            reporter=watch,
        )
    seconds, saving = watch.ended - watch.begun, sum(watch.saves)
    share = saving / seconds
    report.extra |= {
        "seconds": seconds,
        "seconds_in_saves": saving,
        "saves": [1e3 * taken for taken in watch.saves],
        "share": share,
    }
    report.lines = [
        f"  a run of {seconds:,.0f} s ({run.step:,} steps) made {len(watch.saves)} saves,"
        f" which took {saving:.2f} s: {share:.2%} of its time (goal: below 2 %)"
    ]
    return run.path


def save_again(run: Path, turns: int, report: Report) -> None:
    """Saves the state of a run `turns` times and reports what one save takes, and its parts."""
    saved = checkpoint.load_latest(run / "checkpoints")
    size = sum(file.stat().st_size for file in saved.path.iterdir())
    folder = run / "again"
    parts, taken = Parts(), []
    for turn in range(-2, turns):  # two to begin with, so that each that counts removes one
        counts = parts.watching() if turn >= 0 else Parts().watching()
        begun = time.perf_counter()
        with counts:
            checkpoint.save_checkpoint(
                folder,
                saved.step + turn + 2,
                model=saved.model,
                optimizer=saved.optimizer,
                state=saved.state,
            )
        if turn >= 0:
            taken.append(1e3 * (time.perf_counter() - begun))
    report.sides["a save"] = Figures(tuple(taken))
    report.about["a save"] = f"{size / 1e6:,.1f} MB in {len(saved.model)} + {len(saved.optimizer)}"
    report.about["a save"] += " arrays, beside two older ones"
    each = {name: 1e3 * seconds / turns for name, seconds in parts.seconds.items()}
    each["the rest: gathering, hashing, writing"] = sum(taken) / turns - sum(each.values())
    report.extra |= {"bytes": size, "parts": each}
    report.lines += [f"  of one save, {name}: {spent:,.0f} ms" for name, spent in each.items()]


def run(size: str, minutes: float, turns: int, workers: int, folder: Path) -> Report:
    """A run with its saves, then saves alone."""
    settings = {
        "size": size,
        "minutes": minutes,
        "turns": turns,
        "workers": workers,
        "save_seconds": TrainingOptions().save_seconds,
    }
    report = Report("saving", settings, "milliseconds per save", compares=False)
    report.look_around()
    with TemporaryDirectory(dir=folder) as place:
        made = train(size, minutes, workers, Path(place), report)
        save_again(made, turns, report)
    return report


def main(arguments: Sequence[str] | None = None) -> None:
    """Parses, trains, saves, shows."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--size", choices=SIZES, default="small", help="default: small")
    parser.add_argument("--minutes", type=float, default=3.0, help="of training; default: 3")
    parser.add_argument("--turns", type=int, default=9, help="saves alone; default: 9")
    parser.add_argument("--workers", type=int, help="threads; default: as many as processors")
    parser.add_argument(
        "--folder", type=Path, default=Path(), help="of the disk to save on; default: this one"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    given = parser.parse_args(arguments)
    workers = given.workers or suitable_workers(BATCHES.get(given.size, TrainingOptions().batch))
    try:
        report = run(given.size, given.minutes, given.turns, workers, given.folder)
    except cf.ClearformerError as error:
        sys.exit(f"saving: {error}")
    report.show(given.json)


if __name__ == "__main__":
    main()
