"""Measures the textbook's table: models compared by text, by recall and by reversing letters."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from time import monotonic
from typing import Any

from clearformer.comparison.compare import compare
from clearformer.comparison.document import Comparison
from clearformer.comparison.lesson.hearing import Hearing, Progress
from clearformer.comparison.lesson.pairs import pair_step_of, source_norms
from clearformer.comparison.lesson.shares import recall, shared_out
from clearformer.comparison.lesson.table import Figure, Lesson
from clearformer.comparison.why.growth import growth_of
from clearformer.comparison.why.numbers import kept
from clearformer.comparison.why.reasons import Reasons
from clearformer.engines.threads import one_blas_thread
from clearformer.errors import ConfigurationError
from clearformer.models.kinds import KINDS

READING: Mapping[str, tuple[str, ...]] = {
    "rnn": ("rnn",), "gated": ("lstm", "gru"), "transformer": ("decoder",),
}  # fmt: skip
"""Kinds of model that read one sequence, by row."""

WRITING: Mapping[str, str] = {"attention": "seq2seq", "no_attention": "seq2seq:attention=none"}
"""Models that read a source and write a target."""

DISTANCES = (16, 64, 256)

BACK = 32
"""Steps back at which the gradient is told, as a share of that one step back."""


def lesson(
    text: Any = None,
    *,
    minutes: float = 10.0,
    seeds: int = 1,
    parameters: int = 50_000,
    distances: Sequence[int] = DISTANCES,
    folder: str | Path | None = None,
    compared: Callable[..., Comparison] = compare,
    progress: Progress | None = None,
) -> Lesson:
    """Trains what is needed and fills the table.

    Each model is trained for the same time on the text; on recall at each distance; and models that
    read a source and write a target on reversing letters, with attention and without.

    Args:
        text: as of `compare`.
        minutes: that everything may take, about.
        seeds: full trials of each model.
        parameters: of each model.
        distances: of the recalls.
        folder: where every trial is kept, so that a lesson that was stopped goes on.
        compared: makes a comparison, as `compare` does.
        progress: hears what is measured.

    Raises:
        ConfigurationError, TextError, RunError, NotFiniteError, Interrupted: see `compare`.
    """
    require_minutes(minutes)
    return _Teaching(minutes, seeds, parameters, tuple(distances), folder, compared, progress).all(
        text
    )


def require_minutes(minutes: float) -> None:
    """Refuses a time that cannot be.

    Raises:
        ConfigurationError: it is no number above 0.
    """
    if isinstance(minutes, bool) or not (isinstance(minutes, int | float) and 0 < minutes <= 1e6):
        raise ConfigurationError(f"minutes must be a number above 0; got {minutes!r}")


class _Teaching:
    """One lesson while it is measured."""

    def __init__(
        self,
        minutes: float,
        seeds: int,
        parameters: int,
        distances: tuple[int, ...],
        folder: str | Path | None,
        compared: Callable[..., Comparison],
        progress: Progress | None,
    ):
        self.seeds, self.parameters, self.distances = seeds, parameters, distances
        self.folder, self.compared, self.progress = folder, compared, progress
        self.reading = [name for names in READING.values() for name in names if name in KINDS]
        self.writing = {label: name for label, name in WRITING.items() if "seq2seq" in KINDS}
        self.done = 0.0
        models = {
            "text": self.reading,
            **{recall(distance): self.reading for distance in distances},
            **({"reverse": list(self.writing.values())} if self.writing else {}),
        }
        counts = {name: len(names) for name, names in models.items()}
        self.work, self.seconds = shared_out(minutes, counts, distances, seeds)

    def all(self, text: Any) -> Lesson:
        """Everything, one comparison after another."""
        begun = monotonic()
        read = self._compared("text", self.reading, text, why=True)
        recalled = {
            distance: self._compared(
                recall(distance),
                self.reading,
                task="recall",
                settings={"distance": distance},
            )
            for distance in self.distances
        }
        cells = {
            row: self._reader(names, read, recalled)
            for row, names in READING.items()
            if set(names) <= set(self.reading)
        }
        if self.writing:
            written = self._compared("reverse", list(self.writing.values()), task="reverse")
            cells["seq2seq"] = self._writer(written)
        if self.progress:
            self.progress("", 1.0)
        return Lesson(
            cells,
            kept((monotonic() - begun) / 60) or 0.0,
            self.seconds,
            self.parameters,
            self.seeds,
            self.distances,
            next((float(each.task["chance"]) for each in recalled.values()), None),
            ", ".join(map(str, read.text.get("sources", ()))),
        )

    def _compared(
        self, name: str, models: list[str], text: Any = None, *, why: bool = False, **task: Any
    ) -> Comparison:
        place = None if self.folder is None else Path(self.folder) / name.replace(" ", "-")
        found = self.compared(
            text,
            models=models,
            budget={"parameters": self.parameters, "seconds": self.seconds[name]},
            seeds=self.seeds,
            folder=place,
            why=why,
            listener=Hearing(
                name, self.done, self.work[name], sum(self.work.values()), self.progress
            ),
            **task,
        )
        self.done += self.work[name]
        return found

    def _reader(
        self, names: Sequence[str], read: Comparison, recalled: Mapping[int, Comparison]
    ) -> dict[str, tuple[Figure, ...]]:
        """The cells of models that read one sequence."""
        reasons = Reasons.from_json(read.why, read.temperature)
        titles = {name: _title(read, name) for name in names}
        fading = {each.name: each.relative(BACK) for each in reasons.fading}
        growth = {each.name: each for each in reasons.growth}
        costs = tuple(
            Figure(titles[name], "exponent", growth[name].exponent, growth[name].low,
                   growth[name].high)
            for name in names if name in growth
        )  # fmt: skip
        return {
            "predicts": tuple(
                _of(read, name, "bits_per_character", titles[name]) for name in names
            ),
            "remembers": tuple(
                _of(comparison, name, "accuracy", titles[name], "recall", distance)
                for name in names
                for distance, comparison in recalled.items()
            ),
            "reaches": tuple(
                Figure(titles[name], "gradient", fading.get(name), at=BACK) for name in names
            ),
            "costs": costs,
            "speed": tuple(_of(read, name, "tokens_per_second", titles[name]) for name in names),
        }

    def _writer(self, written: Comparison) -> dict[str, tuple[Figure, ...]]:
        """The cells of models that read a source and write a target; the first has attention."""
        made = {
            title: KINDS[model["kind"]].configuration.from_json(model["configuration"])
            for title, model in zip(self.writing, written.models, strict=True)
        }
        label, attending = next(iter(made.items()))
        with one_blas_thread():
            norms = {title: source_norms(each, BACK + 1) for title, each in made.items()}
            growth = growth_of(label, pair_step_of(attending))
        return {
            "predicts": tuple(
                _of(written, name, "bits_per_character", title, "bits_per_symbol")
                for title, name in self.writing.items()
            ),
            "remembers": tuple(
                _of(written, name, "accuracy", title, "reversed")
                for title, name in self.writing.items()
            ),
            "reaches": tuple(
                Figure(title, "gradient", kept(found[BACK] / found[1]), at=BACK)
                for title, found in norms.items()
            ),
            "costs": (Figure(label, "exponent", growth.exponent, growth.low, growth.high),),
            "speed": tuple(
                _of(written, name, "tokens_per_second", title)
                for title, name in self.writing.items()
            ),
        }


def _of(
    comparison: Comparison, name: str, measure: str, title: str,
    called: str | None = None, at: int | None = None,
) -> Figure:  # fmt: skip
    """The mean of a measure over seeds."""
    found = comparison.summary[name].get(measure, {"mean": None, "low": None, "high": None})
    return Figure(title, called or measure, found["mean"], found["low"], found["high"], at)


def _title(comparison: Comparison, name: str) -> str:
    if name == "decoder":
        return "Transformer"
    return str(next(model["title"] for model in comparison.models if model["name"] == name))
