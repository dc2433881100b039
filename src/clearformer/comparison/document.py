"""What a comparison has found, as plain data: what the table, the report and `--json` are made of.

Whatever is computed is here, so that a report can be drawn from a file without training anything.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

from clearformer.errors import RunError

FORMAT = 1
"""Version of the document; raised when an older program could not read a newer one."""

MEASURES: Mapping[str, bool] = {
    "bits_per_character": False,
    "perplexity": False,
    "loss": False,
    "accuracy": True,
    "seconds": False,
    "tokens_per_second": True,
    "memory": False,
}
"""Numbers that a trial gives, and whether more of it is better."""

BY_CLOCK = ("seconds", "tokens_per_second", "memory")
"""Those that differ from time to time where nothing is drawn, too."""


@dataclass(frozen=True)
class Point:
    """Where a trial stood on its way."""

    tokens: int
    """Tokens read so far."""
    seconds: float
    """Training time so far."""
    loss: float
    """Mean training loss of about the last 20 batches, in nats per token that is asked."""


@dataclass(frozen=True)
class Result:
    """One model, trained once with one seed and judged on the part that none has learned from."""

    model: str
    """The name of the entrant, as in `models`."""
    seed: int
    """Of weights and order; 0 where nothing is drawn, as in counting."""
    parameters: int
    """Numbers that it has learned; of an n-gram model those in its tables."""
    tokens: int
    """Tokens read in training, a token as often as it was read."""
    seconds: float
    """Time spent in training steps (or in counting), without evaluations."""
    tokens_per_second: float | None
    loss: float
    """Nats per token that is asked."""
    bits_per_character: float
    """Of a text; of a task, bits per symbol that is asked."""
    perplexity: float
    """exp(loss)."""
    accuracy: float | None
    """Share of right answers of a task (see `task["answer"]`), 0 … 1; None for texts."""
    memory: int | None
    """Bytes at the height of a training step (see `machine["memory"]`); None where unknown."""
    learning_rate: float | None
    """None where there is none."""
    curve: tuple[Point, ...] = ()
    """From the first step to the last."""

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> "Result":
        """The result in a document."""
        curve = tuple(Point(**point) for point in document["curve"])
        return cls(**{**document, "curve": curve})


@dataclass(frozen=True)
class Comparison:
    """Models by the same budget, several seeds each.

    Every field is plain JSON but `results`.
    """

    results: tuple[Result, ...]
    """In the order of `models`, then by seed."""

    summary: Mapping[str, Mapping[str, Mapping[str, Any]]]
    """{model: {measure: {mean, low, high, seeds}}}: low and high are the ends of the interval that
    holds the true mean with 95 % confidence (Student's t); None where one seed tells of none. The
    measures are those in MEASURES that are known of the model."""

    models: tuple[Mapping[str, Any], ...]
    """One for each entrant, in the order given: {name, kind, title, in_words, counting, parameters,
    configuration, tokenizer, vocabulary}. `name` is what `results` and `summary` call it; `title`
    and `in_words` are for a person; `counting` is true of the n-gram model, which has no budget of
    parameters, and whose {order, losses} of the orders tried stand here too; `tokenizer` is its
    kind, None in a task."""

    task: Mapping[str, Any]
    """{name, settings, answer, measure, chance, best, entropy, vocabulary, context}: `answer` tells
    what `accuracy` counts ("token", "position", "row", None in a text); `measure` is the one that
    the models are ranked by (bits_per_character or accuracy); `chance` is the accuracy of a guess;
    `best` the lowest possible loss in nats, `entropy` the same in bits. None where unknown."""

    budget: Mapping[str, Any]
    """{parameters, tokens, seconds, within}: what each entrant may have; of tokens and seconds one
    is None. `within` is the share by which parameters may differ: 0.02."""

    search: Mapping[str, Mapping[str, Any]]
    """{model: {trials: [{learning_rate, loss}], chosen, widened}}: the search for a learning rate.
    Loss in nats on what was held out for the search alone, None where training diverged; `widened`
    is true if the best lay at the edge of the grid and one further was tried."""

    training: Mapping[str, Any]
    """What is equal for all: {batch, context, clip, weight_decay, warm_up, decay_from, grid, share,
    seeds}: `grid` of learning rates, `share` of the budget that a trial of the search has, `seeds`
    of the full trials."""

    text: Mapping[str, Any]
    """{sources, characters, fingerprint, trained_on, judged_on}: the last two in characters. Empty
    in a task."""

    machine: Mapping[str, Any]
    """{engine, workers, system, processor, python, numpy, clearformer, memory}: `memory` tells how
    it was measured."""

    findings: tuple[str, ...] = ()
    """One to three sentences on what came out; of a difference only where intervals are apart."""

    notes: tuple[str, ...] = ()
    """What a reader should know, one sentence each."""

    why: Mapping[str, Any] = field(default_factory=dict)
    """The measured reasons; see `comparison.why`."""

    temperature: Mapping[str, Any] = field(default_factory=dict)
    """How temperature changes entropy and text; see `comparison.why`."""

    lesson: Mapping[str, Any] | None = None
    """The textbook's table with a measured figure in every cell, if it was asked for."""

    @property
    def names(self) -> list[str]:
        """Of the entrants, in the order given."""
        return [model["name"] for model in self.models]

    @property
    def measure(self) -> str:
        """What the models are ranked by."""
        return str(self.task["measure"])

    @property
    def ranked(self) -> list[str]:
        """Names, the best first."""
        sign = -1 if MEASURES[self.measure] else 1
        return sorted(self.names, key=lambda name: sign * self.mean(name, self.measure))

    @property
    def curves(self) -> dict[str, dict[int, tuple[Point, ...]]]:
        """{model: {seed: points}}."""
        found: dict[str, dict[int, tuple[Point, ...]]] = {name: {} for name in self.names}
        for result in self.results:
            found[result.model][result.seed] = result.curve
        return {name: curves for name, curves in found.items() if any(curves.values())}

    def mean(self, name: str, measure: str) -> float:
        """Of one entrant over its seeds."""
        return float(self.summary[name][measure]["mean"])

    def of(self, name: str) -> list[Result]:
        """The results of one entrant."""
        return [result for result in self.results if result.model == name]

    def with_why(self, **found: Any) -> "Comparison":
        """The same with `why`, `temperature` or `lesson` filled in."""
        return replace(self, **found)

    def to_json(self) -> dict[str, Any]:
        """A dictionary for JSON, complete: `from_json` gives the same back."""
        plain = {each.name: getattr(self, each.name) for each in fields(self)}
        plain["results"] = [_plain_result(result) for result in self.results]
        return {"format": FORMAT, **{name: _plain(value) for name, value in plain.items()}}

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> "Comparison":
        """The comparison in a document.

        Raises:
            RunError: it is none, or of a newer version.
        """
        if document.get("format") != FORMAT:
            raise RunError(
                f"the comparison is damaged or newer than this program: expected format {FORMAT}, "
                f"got {document.get('format')!r:.40}"
            )
        given = {name: value for name, value in document.items() if name != "format"}
        try:
            for name in ("models", "findings", "notes"):
                given[name] = tuple(given[name])
            given["results"] = tuple(map(Result.from_json, given["results"]))
            return cls(**given)
        except (KeyError, TypeError, AttributeError, ValueError) as fault:
            raise RunError(f"the comparison is damaged: {fault}") from None


def _plain_result(result: Result) -> dict[str, Any]:
    plain = {each.name: getattr(result, each.name) for each in fields(result)}
    plain["curve"] = [vars(point) for point in result.curve]
    return plain


def _plain(value: Any) -> Any:
    """Mappings as dictionaries, tuples as lists."""
    if isinstance(value, Mapping):
        return {str(key): _plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    return value
