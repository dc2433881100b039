"""The display of a comparison while it runs: a moving bar in a terminal, plain lines elsewhere."""

import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from clearformer.cli.output import note_of, on_terminal, printable, tell
from clearformer.cli.progress import BAR_SECONDS, COLUMNS, PLAIN_SECONDS, clock
from clearformer.comparison.events import Job, Listener
from clearformer.explanation.lines import shortened, wrapped

NAME = 24
"""Columns of a name in a line that moves."""

INDENT = "  "
"""Before what a line goes on with."""

LOOKING = 62
"""Columns of what is measured: with the bar of 14 behind it the line fits 80."""


class ComparisonDisplay(Listener):
    """Shows a comparison on standard error: `cf.compare(…, listener=cf.ComparisonDisplay())`."""

    def __init__(self) -> None:
        self._bar: Any = None
        self._task: Any = None
        self._shown_at = time.monotonic()
        self._doing = ""
        self._begun: set[str] = set()

    def __enter__(self) -> "ComparisonDisplay":
        return self

    def __exit__(self, *_: object) -> None:
        self.over()

    def over(self) -> None:
        """Leaves the bar as it stands."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None

    def planned(self, models: Mapping[str, str], jobs: int) -> None:
        """Says what will be compared."""
        for name, sizes in models.items():
            self._print(f"\n{INDENT}".join(wrapped(f"{name}: {sizes}", COLUMNS - len(INDENT))))
        self._print(
            f"{jobs} part{'s' * (jobs != 1)} at most; Ctrl-C stops, and what has ended is kept\n"
        )
        self._start_bar()

    def note(self, text: str) -> None:
        """Shows it as a line."""
        self._print(note_of(text))

    def begun(self, job: Job, number: int, jobs: int) -> None:
        """Says which part it is; of the first, that those before it had ended earlier."""
        if not self._begun and number > 1:
            self._print(f"The first {number - 1} of {jobs} parts had ended before.")
        self._begun.add(job.name)
        self._doing = f"{number}/{jobs} {shortened(job.model, NAME)}, {job.in_words}"
        self._move(0.0, None)

    def moved(self, job: Job, share: float, seconds_left: float | None) -> None:
        """Moves the bar, or prints a line from time to time."""
        now = time.monotonic()
        if now - self._shown_at < (BAR_SECONDS if self._bar else PLAIN_SECONDS):
            return
        self._shown_at = now
        self._move(share, seconds_left)
        if not self._bar:
            left = f", about {clock(seconds_left)} left" if seconds_left is not None else ""
            self._print(f"{self._doing}: {share:.0%}{left}")

    def ended(self, job: Job, found: Mapping[str, Any]) -> None:
        """Shows what came out, but of what had ended before this session."""
        if job.name not in self._begun:
            return
        result = found.get("result", found)
        if job.purpose in ("trial", "count"):
            right = result["accuracy"]
            said = "" if right is None else f"{right:.1%} right, "
            self._print(
                f"{job.model}, {job.in_words}: {said}{result['bits_per_character']:.3f} bits per "
                f"character in {result['seconds']:,.1f} s"
            )
        elif job.purpose == "search":
            loss = found["loss"]
            said = "diverged" if loss is None else f"loss {loss:.3f}"
            self._print(f"{job.model}, {job.in_words}: {said}")

    def looking(self, at: str, share: float) -> None:
        """Says what is measured: on the trained models, or of a lesson."""
        self._start_bar()  # a lesson has no plan that would have begun it
        self._doing = shortened(f"measuring {at}", LOOKING) if at else "measured"
        now = time.monotonic()
        if not self._bar and now - self._shown_at >= PLAIN_SECONDS:
            self._shown_at = now
            self._print(f"{self._doing}: {share:.0%}")
        self._move(share, None)

    def _start_bar(self) -> None:
        if self._bar or not on_terminal():
            return
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn

        self._bar = Progress(
            TextColumn("{task.fields[doing]}"),
            BarColumn(bar_width=14),  # so that the whole line fits 80 columns
            TextColumn("{task.fields[left]}"),
            console=Console(stderr=True, highlight=False),
            refresh_per_second=5,
        )
        self._task = self._bar.add_task("compare", total=1.0, doing="", left="")
        self._bar.start()

    def _move(self, share: float, seconds_left: float | None) -> None:
        if self._bar:
            left = "" if seconds_left is None else f"{clock(seconds_left)} left"
            self._bar.update(self._task, completed=share, doing=printable(self._doing), left=left)

    def _print(self, line: str) -> None:
        if self._bar:
            with suppress(OSError):  # a terminal that was closed; the work goes on
                self._bar.console.print(
                    printable(line), markup=False, highlight=False, soft_wrap=True
                )
        else:
            tell(printable(line))
