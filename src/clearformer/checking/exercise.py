"""What an exercise is: a task, the right way in steps, and the changes to steps that are mistakes.

The right way is written as a function of named steps. A mistake is another version of one of them
(or of several), so that any two that touch different steps can be looked for together.

    def scores(Q, K):
        return Q @ K.swapaxes(-1, -2)

    def right(step, X, W_Q, W_K, W_V, masked=True):
        Q, K, V = step.project(X, W_Q), …
        S = step.scale(step.scores(Q, K), Q)
        …

    Mistake("no-scale", {"scale": lambda S, Q: S}, found=Words("…", "…"), …)
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cached_property
from types import SimpleNamespace
from typing import Any

from clearformer.checking.module_form import ModuleForm
from clearformer.checking.probe import Probe
from clearformer.checking.words import Words
from clearformer.errors import ConfigurationError

Step = Callable[..., Any]


@dataclass(frozen=True)
class Case:
    """One probe with what the answer gave and what is right, for evidence in numbers."""

    probe: Probe
    mine: Mapping[str, Any]
    """The answer's arrays, by the names of `Exercise.returns`."""
    right: Mapping[str, Any]
    """The reference's, by the same names."""


Evidence = Callable[[Mapping[str, Case]], Words | None]
"""From the cases by the name of their probe (main and clue probes that ran) to one sentence with
numbers; None where it does not apply."""

Fit = Callable[[Mapping[str, Case]], Mapping[str, Step] | None]
"""From the cases to the change that gives the numbers; None where it cannot."""


@dataclass(frozen=True)
class Mistake:
    """One known mistake: how it changes the steps, and what a learner is told."""

    key: str
    """Its name in the catalogue, such as "softmax-axis0"."""
    change: Mapping[str, Step]
    """For each step that it changes, the wrong version."""
    found: Words
    """What was done, in one line: "softmax taken down the columns (axis 0, not the last)"."""
    why: Words
    """Why it matters, in one line."""
    ask: Words
    """--hint 1: a question that leads there, without the answer."""
    fix: Words
    """--hint 2: what to do, in words."""
    code: str
    """--hint 3: the right line of code."""
    evidence: Evidence | None = None
    fit: "Fit | None" = None
    """Where a number in the mistake can be anything: reads it off the answer's own values and gives
    the change with it, in place of `change`, which is one example; None where it cannot."""
    beside: bool = False
    """Only stress probes show it: the answer is right, and this is said beside the verdict."""


@dataclass(frozen=True)
class Variant:
    """Another convention, by which the answer is right."""

    key: str
    change: Mapping[str, Step]
    says: Words
    """Which convention it is and who uses it, in one line."""
    fit: Fit | None = None
    """As of a mistake: where a number in the convention can be anything."""


Change = Mistake | Variant
"""What can be done to the right way."""


@dataclass(frozen=True)
class Clue:
    """What can be said when no known mistake fits: a place without a name."""

    key: str
    look: Evidence


@dataclass(frozen=True)
class Exercise:
    """One step of the Transformer, or of an older way, for a learner to write."""

    name: str
    """Of the exercise and of the function to write."""
    title: Words
    task: Words
    """What to write: formula, shapes, the convention; a few lines."""
    right: Callable[..., Any]
    """right(step, *arguments): its parameters after the first are those of the function to write;
    where `batched` names arguments, they may have any leading axes."""
    steps: Mapping[str, Step]
    """The right version of each step."""
    probes: Callable[[], Sequence[Probe]]
    mistakes: Sequence[Mistake]
    variants: Sequence[Variant] = ()
    ties: Sequence[frozenset[str]] = ()
    """Keys that no probe can tell apart, because they compute the same."""
    returns: Sequence[str] = ("output",)
    """Names of what is returned, in order. An answer may return more after them; a single one may
    be followed by others in a tuple."""
    batched: Sequence[str] = ()
    """Arguments that may have leading batch axes (all of them together)."""
    synonyms: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Other names for parameters with a default: {"masked": ("mask", "causal")}."""
    may_change: Sequence[str] = ()
    """Arguments that an answer may write into, such as a cache."""
    clues: Sequence[Clue] = ()
    unrepeatable: str | None = None
    """The key of the mistake that shows as two different results of the same call."""

    module: ModuleForm | None = None
    """How it is written as an `nn.Module`; None where only a function makes sense."""

    def __post_init__(self) -> None:
        """Refuses a change to a step that there is not: it would change nothing.

        Raises:
            ConfigurationError: names the step and the nearest that there is.
        """
        changes: tuple[Change, ...] = (*self.mistakes, *self.variants)
        for each in changes:
            for step in each.change:
                if step not in self.steps:
                    near = get_close_matches(step, self.steps, 1, 0.4) or list(self.steps)
                    raise ConfigurationError(
                        f"{each.key} changes the step {step!r}, which {self.name} does not have; "
                        f"did you mean {', '.join(near)}?"
                    )

    @cached_property
    def parameters(self) -> tuple[inspect.Parameter, ...]:
        """Of the function to write."""
        return tuple(inspect.signature(self.right).parameters.values())[1:]

    @property
    def signature(self) -> str:
        """As a learner writes it: "self_attention(X, W_Q, W_K, W_V, masked=True)"."""
        written = ", ".join(
            each.name if each.default is each.empty else f"{each.name}={each.default!r}"
            for each in self.parameters
        )
        return f"{self.name}({written})"

    def version(self, *changes: Mapping[str, Step]) -> Callable[..., Any]:
        """The function with these changes to its steps; the right one without any."""
        steps = SimpleNamespace(**dict(self.steps))
        for change in changes:
            vars(steps).update(change)
        return lambda *args, **named: self.right(steps, *args, **named)

    def mistake(self, key: str) -> Mistake:
        """The mistake called `key`."""
        return next(each for each in self.mistakes if each.key == key)
