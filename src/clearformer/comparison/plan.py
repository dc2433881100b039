"""All that decides what a comparison finds, but for times and memory; kept in its folder.

A comparison that is gone on with has the same plan; its trials are then the same to the last bit.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from clearformer.comparison.budget import Budget
from clearformer.errors import ConfigurationError, RunError
from clearformer.training.options import TrainingOptions

FORMAT = 1

GRID = (1e-3, 3e-3, 1e-2)
"""Learning rates that are tried for every model …"""

WIDER = {1e-3: 3e-4, 1e-2: 3e-2}
"""… and those beyond its ends."""

SHARE = 0.2
"""Share of the budget that a trial of the search has."""

SEARCH_SEED = 1_000_003
"""Of the trials of the search: none of those of the full trials."""

MOST_SEEDS = 1000


@dataclass(frozen=True)
class Plan:
    """What was asked for, complete."""

    models: tuple[str, ...]
    task: str
    settings: Mapping[str, Any]
    """Of the task."""
    budget: Budget
    seeds: int
    batch: int
    context: int
    """Tokens in a window of a text; a task has its own."""
    tokenizer: str
    vocab: int | None
    measure: str
    """What models are ranked by."""
    engine: str
    device: str | None
    workers: int
    fingerprint: str | None
    """Of the text; None for a task."""

    def __post_init__(self) -> None:
        for name, most in (("seeds", MOST_SEEDS), ("context", 2**20), ("workers", 2**10)):
            value = getattr(self, name)
            if type(value) is not int or not 1 <= value <= most:
                raise ConfigurationError(
                    f"{name} must be a whole number from 1 to {most:,}; got {value!r}"
                )
        if self.vocab is not None and type(self.vocab) is not int:
            raise ConfigurationError(f"vocab must be a whole number; got {self.vocab!r:.40}")
        TrainingOptions(batch=self.batch)  # refuses one that cannot be

    def options(
        self, rate: float, seed: int, *, window: int, share: float = 1.0
    ) -> TrainingOptions:
        """How a trial with a share of the budget is trained.

        As every run by AdamW, but for its length: what moves the weights must not differ, and Muon
        was not tried on recurrent models.
        """
        length: dict[str, Any] = {}
        if self.budget.tokens is not None:
            tokens = max(round(self.budget.tokens * share), 1)
            length["steps"] = max(-(-tokens // (self.batch * window)), 1)
        else:
            length["minutes"] = (self.budget.seconds or 0) * share / 60
        return TrainingOptions(
            **length, batch=self.batch, learning_rate=rate, seed=seed, workers=self.workers
        )

    def described(self) -> dict[str, Any]:
        """What is equal for all, as the document has it."""
        usual = TrainingOptions(batch=self.batch)
        return {
            "batch": self.batch,
            "context": self.context,
            "clip": usual.clip,
            "weight_decay": usual.weight_decay,
            "warm_up": usual.warm_up,
            "decay_from": usual.decay_from,
            "grid": list(GRID),
            "share": SHARE,
            "seeds": list(range(self.seeds)),
        }

    def to_json(self) -> dict[str, Any]:
        """As the folder keeps it."""
        return {**asdict(self), "models": list(self.models), "settings": dict(self.settings)}

    @classmethod
    def from_json(cls, document: Mapping[str, Any], source: str) -> "Plan":
        """The plan in a document.

        Raises:
            RunError: it is damaged; `source` names it.
        """
        try:
            given = {each.name: document[each.name] for each in fields(cls)}
            given["models"] = tuple(given["models"])
            return cls(**{**given, "budget": Budget(**given["budget"])})
        except (KeyError, TypeError, ConfigurationError) as fault:
            raise RunError(f"{source} is damaged: {fault}") from None

    def require_same(self, other: "Plan", folder: object) -> None:
        """Refuses to go on with another comparison in the same folder.

        Raises:
            RunError: naming what differs first.
        """
        if other.fingerprint != self.fingerprint:
            raise RunError(
                f"{folder} holds another comparison, on another text or task; choose another --out"
            )
        for name in (each.name for each in fields(self)):
            mine, theirs = getattr(self, name), getattr(other, name)
            if mine != theirs:
                raise RunError(
                    f"{folder} holds another comparison: its {name} {_are(name)} {_shown(theirs)}, "
                    f"here {_shown(mine)}; choose another --out, or leave it as it was"
                )

    def on(self, fingerprint: str | None) -> "Plan":
        """The same for a text."""
        return replace(self, fingerprint=fingerprint)


def _are(name: str) -> str:
    return "are" if name in ("models", "settings", "seeds", "workers") else "is"


def _shown(value: object) -> str:
    """As it is written on the command line."""
    if isinstance(value, tuple):
        return ",".join(value)
    if isinstance(value, Mapping):
        return " ".join(f"{name}={each}" for name, each in value.items()) or "as usual"
    return "as usual" if value is None else str(value)
