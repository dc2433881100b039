"""The display of a training run: a moving bar in a terminal, plain lines elsewhere."""

import time
from contextlib import suppress
from typing import Any

from clearformer.cli.output import (
    PASSING,
    note_of,
    on_terminal,
    perplexity_in_words,
    printable,
    tell,
)
from clearformer.explanation.lines import JOINT, shortened, wrapped
from clearformer.training.evaluation import Evaluation
from clearformer.training.events import Reporter, Start, Step

PLAIN_SECONDS = 10.0  # between lines where there is no terminal
BAR_SECONDS = 0.1  # between changes of the bar
COLUMNS = 80
SAMPLE_COLUMNS = 68  # with the indent in front it stays within 80
MANY_CHARACTERS = 5_000_000  # byte pairs of so many take about two seconds


class TrainingDisplay(Reporter):
    """Shows a run on standard error.

    Attributes:
        last_sample: what the model wrote last.
    """

    def __init__(self) -> None:
        self.last_sample = ""
        self._bar: Any = None
        self._task: Any = None
        self._shown_at = 0.0
        self._told = ""
        self._steps: int | None = None

    def __enter__(self) -> "TrainingDisplay":
        return self

    def __exit__(self, *_: object) -> None:
        PASSING.wipe()
        if self._bar is not None:
            self._bar.stop()

    def started(self, start: Start) -> None:
        """Says what will be trained on what."""
        model = start.model.completed
        self._steps = start.steps
        self._print(
            f"Text   {start.tokens:,} tokens to learn from, {start.validation_tokens:,} to be "
            "judged by"
        )
        self._print(f"Tokens {start.tokenizer}, vocabulary {model.vocabulary:,}")
        sizes = " ".join(model.in_words.split())
        told = f"{model.title}, {model.parameter_count:,} parameters: {sizes}"
        self._print("Model  " + f"\n{' ' * 7}".join(wrapped(told, COLUMNS - 7)))
        length = f"{start.steps:,} steps" if start.steps else f"{start.minutes:g} minutes"
        stops = "Ctrl-C stops and saves".replace(" ", JOINT)
        told = f"{length} of {model.batch_in_words(start.batch)} with {start.where}; {stops}"
        self._print("Train  " + f"\n{' ' * 7}".join(wrapped(told, COLUMNS - 7)))
        self._print(f"Run    {printable(str(start.folder))}\n")
        if on_terminal():
            self._start_bar(start)

    def _start_bar(self, start: Start) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn

        self._bar = Progress(
            TextColumn("step {task.fields[step]}"),
            BarColumn(bar_width=18),  # so that the whole line fits 80 columns
            TextColumn("{task.fields[told]}"),
            console=Console(stderr=True, highlight=False),
            refresh_per_second=5,
        )
        self._task = self._bar.add_task(
            "train", total=1.0, completed=start.progress, step=self._number(start.step), told=""
        )
        self._bar.start()

    def waiting(self, doing: str) -> None:
        """Says so in the terminal until something else is shown."""
        if self._bar:
            self._bar.update(self._task, told=f"{doing} …")
        else:
            PASSING.show(f"{doing} …")

    def _number(self, step: int) -> str:
        return f"{step:,}" + (f"/{self._steps:,}" if self._steps else "")

    def preparing(self, characters: int) -> None:
        """Says so where it may take seconds."""
        if characters > MANY_CHARACTERS:
            self._print(f"Cutting {characters:,} characters into tokens …")

    def evaluating(self, step: int) -> None:
        """Shows in the bar that the steps pause."""
        if self._bar:
            self._bar.update(self._task, told="measuring on the validation part …")

    def note(self, text: str) -> None:
        """Shows it as a line."""
        self._print(note_of(text))

    def step(self, step: Step) -> None:
        """Moves the bar, or prints a line from time to time."""
        now = time.monotonic()
        last = bool(self._bar) and step.progress >= 1.0  # it stays on the screen
        if not last and now - self._shown_at < (BAR_SECONDS if self._bar else PLAIN_SECONDS):
            return
        first, self._shown_at = not self._shown_at, now
        self._told = (
            f"loss {step.loss:.3f} · {step.tokens_per_second:,.0f} tokens/s · "
            f"{clock(step.seconds_left)} left"
        )
        number = self._number(step.step)
        if self._bar:
            self._bar.update(self._task, completed=step.progress, step=number, told=self._told)
        elif not first:
            self._print(f"step {number}: {self._told}")

    def evaluated(self, step: int, evaluation: Evaluation) -> None:
        """Shows the validation loss, and in the bar again what stood there."""
        if self._bar:
            self._bar.update(self._task, told=self._told)
        self._print(
            f"step {step:,}: validation loss {evaluation.loss:.3f}, perplexity "
            f"{perplexity_in_words(evaluation.perplexity)}, "
            f"{evaluation.bits_per_character:.3f} bits per character"
            + ("" if evaluation.accuracy is None else f", {evaluation.accuracy:.1%} right")
        )

    def sampled(self, step: int, text: str) -> None:
        """Shows the sample in one line; the whole of it is in samples.txt."""
        self.last_sample = text
        line = " ".join(printable(text).split())
        self._print(f"          {shortened(line, SAMPLE_COLUMNS)}")

    def _print(self, line: str) -> None:
        if self._bar:
            with suppress(OSError):  # a terminal that was closed; training goes on
                self._bar.console.print(line, markup=False, highlight=False, soft_wrap=True)
        else:
            tell(line)


def clock(seconds: float) -> str:
    """Minutes and seconds, as 1:05."""
    whole = int(min(seconds, 359_999))
    hours, rest = divmod(whole, 3600)
    return f"{hours}:{rest // 60:02}:{rest % 60:02}" if hours else f"{rest // 60}:{rest % 60:02}"


class Counter:
    """Percent in one line of the terminal, for work that takes over two seconds."""

    def __init__(self, doing: str):
        self._doing = doing
        self._shown_at = self._begun = time.monotonic()

    def __enter__(self) -> "Counter":
        return self

    def __exit__(self, *_: object) -> None:
        PASSING.wipe()

    def show(self, share: float) -> None:
        """Shows the share that is done, a few times a second."""
        now = time.monotonic()
        if now - self._begun <= 1 or now - self._shown_at <= BAR_SECONDS:
            return
        self._shown_at = now
        PASSING.show(f"{self._doing} … {share:4.0%}")
