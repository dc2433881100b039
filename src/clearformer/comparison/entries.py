"""Every entrant with what was decided for it: its size, and how it is trained."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from clearformer.comparison.course import Course
from clearformer.comparison.entrants import Entrant, entrants_of
from clearformer.comparison.events import Job, Purpose
from clearformer.comparison.plan import SHARE, Plan
from clearformer.comparison.sizing import sized
from clearformer.comparison.trial import Trial
from clearformer.engines.execution import Wish
from clearformer.engines.ranks import Alone
from clearformer.errors import ConfigurationError, TextError
from clearformer.models.kind import Configuration
from clearformer.models.kinds import KINDS
from clearformer.runs.fitting import fitting
from clearformer.runs.machine import settled
from clearformer.runs.workers import workers_that_pay
from clearformer.training.options import TrainingOptions

LESS = "take a smaller --budget of parameters"
"""What a person does where an entrant does not fit in memory: its size is that of the budget."""


@dataclass(frozen=True)
class Entry:
    """An entrant with everything that was decided for it."""

    number: int
    """Its place, from 1."""
    entrant: Entrant
    configuration: Configuration | None
    """None for the one that counts."""

    @property
    def name(self) -> str:
        """Of the entrant."""
        return self.entrant.name

    @property
    def in_words(self) -> str:
        """Its size, for a person."""
        made = self.configuration
        if made is None:
            return "counts; its size is not in the budget"
        return f"{made.parameter_count:,} parameters: {' '.join(made.in_words.split())}"

    def job(self, purpose: Purpose, seed: int = 0, rate: float | None = None) -> Job:
        """A job of it."""
        luck = {"search": f"-rate-{rate}", "trial": f"-seed-{seed}"}.get(purpose, "")
        return Job(
            f"{self.number:02}-{self.entrant.kind}-{purpose}{luck}", self.name, purpose, seed, rate
        )

    def trial(
        self, plan: Plan, course: Course, rate: float, seed: int, *, search: bool = False
    ) -> Trial:
        """One training of it; not of one that counts."""
        made = self.configuration
        if made is None:
            raise TypeError(f"{self.name} counts and is not trained")
        share = SHARE if search else 1.0
        window = course.read_in_a_row(self.entrant, made)
        options = plan.options(rate, seed, window=window, share=share)
        options = replace(
            options, workers=min(plan.workers, workers_that_pay(options, made, plan.engine))
        )
        asked = Wish(plan.engine, plan.device, compiled=False)
        execution, _ = settled(asked, options, made, Alone(), _unheard)
        return Trial(made, course.ground(self.entrant, made, search), options, execution)

    def described(self, plan: Plan, course: Course, found: Mapping[str, Any]) -> dict[str, Any]:
        """As the document has it.

        Args:
            plan: what is compared.
            course: what all learn from.
            found: the parameters; of one that counts also the order, and the losses of all tried.
        """
        made, own = self.configuration, self.entrant.tokenizer or plan.tokenizer
        return {
            "name": self.name,
            "kind": self.entrant.kind,
            "title": "n-gram" if made is None else made.title,
            "in_words": f"order {found['order']}" if made is None else made.in_words,
            "counting": made is None,
            "configuration": {} if made is None else made.to_json(),
            "tokenizer": own if course.reads == "text" else None,
            "vocabulary": len(course.vocabulary(self.entrant)),
            **found,
        }


def sized_entries(plan: Plan, course: Course) -> tuple[Entry, ...]:
    """Every entrant in the size of the budget; refused before anything is trained.

    Raises:
        ConfigurationError: which one cannot meet the budget, and why; reads more in one step of
            training than the budget has; or does not fit in memory.
        TextError: the shortest part to learn from, that of the search, has not one window.
    """
    entries: list[Entry] = []
    for number, entrant in enumerate(entrants_of(plan.models), 1):
        if entrant.counts:
            entries.append(Entry(number, entrant, None))
            continue
        dials = {**course.dials(entrant), **entrant.dials}
        vocabulary = len(course.vocabulary(entrant))
        made = sized(entrant.name, KINDS[entrant.kind], vocabulary, dials, plan.budget)
        options = plan.options(1e-3, 0, window=made.window)
        fitting(Wish(plan.engine, plan.device), options, Alone(), way_out=LESS)(made)
        _require_windows(course, entrant, made, options)
        _require_a_step(plan, course, entrant, made)
        entries.append(Entry(number, entrant, made))
    return tuple(entries)


def _require_a_step(plan: Plan, course: Course, entrant: Entrant, made: Configuration) -> None:
    """Refuses a budget of fewer tokens than are read before the weights move once."""
    window = course.read_in_a_row(entrant, made)
    step, tokens = plan.batch * window, plan.budget.tokens
    if tokens is None or step <= tokens:
        return
    shorter = " or --context" if course.reads == "text" else ""  # a task has rows of its own
    raise ConfigurationError(
        f"{entrant.name} reads {step:,} tokens in one step of training ({plan.batch} rows of "
        f"{window:,}), and the budget has {tokens:,}; take tokens={step} or more, or a smaller "
        f"--batch{shorter}"
    )


def _require_windows(
    course: Course, entrant: Entrant, made: Configuration, options: TrainingOptions
) -> None:
    try:
        course.ground(entrant, made, search=True).batches(options)
    except TextError as fault:
        raise TextError(
            f"{entrant.name} cannot learn from this text, four fifths of which are for the search "
            f"for a learning rate: {fault}"
        ) from None


def _unheard(text: str) -> None:
    """Nothing is decided here that takes long enough to tell of: nothing is compiled."""
