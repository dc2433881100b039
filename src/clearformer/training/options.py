"""How a run is trained: every dial, checked when made, saved in run.json."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from clearformer.errors import ConfigurationError

OPTIMIZERS = ("adamw", "muon")

OPTIMIZER_BEFORE = "adamw"
"""Of runs that were made before there was a choice, and do not tell."""


@dataclass(frozen=True)
class Usual:
    """What an optimizer is used with, unless told otherwise; found by trials, see docs/log.md."""

    learning_rate: float
    warm_up: float
    weight_decay: float


USUAL = {"adamw": Usual(3e-3, 0.05, 0.1), "muon": Usual(0.02, 0.02, 0.0)}

AS_USUAL: Any = None
"""Stands where the optimizer decides, until the options are made."""


@dataclass(frozen=True)
class TrainingOptions:
    """The dials of training; sizes of the model are in `ModelConfiguration`."""

    steps: int | None = None
    """Updates of the weights. Unless given: as minutes say, or 2,000."""
    minutes: float | None = None
    """Wall-clock minutes to train for, instead of a number of steps. With at most 0.5 a decoder
    whose size nobody names has 2 layers and 2 heads."""
    batch: int = 12
    """Sequences in each step."""
    accumulation: int = 1
    """Parts in which a batch is computed, one after the other, to save memory."""
    optimizer: str = "adamw"
    """How weights move: adamw; or muon, for the matrices of the blocks, and adamw for the rest.
    Unless given: muon for a decoder of the recipe modern, else adamw."""
    learning_rate: float = AS_USUAL
    """The largest learning rate, reached after warm-up. Unless given: 0.003; with muon 0.02."""
    warm_up: float = AS_USUAL
    """Share of the run over which the learning rate rises from zero. Unless given: 0.05; with muon
    0.02."""
    decay_from: float = 0.4
    """Share of the run after which the learning rate falls in a straight line to zero."""
    weight_decay: float = AS_USUAL
    """Shrinks matrices by learning_rate · weight_decay at each step. Unless given: 0.1; with muon
    0."""
    clip: float = 1.0
    """Largest norm of the gradient over all parameters; larger ones are scaled down to it."""
    evaluations: int = 5
    """How often the validation loss is measured, the last time at the end."""
    save_seconds: float = 30.0
    """Seconds between saves; there is always one at the end."""
    seed: int = 0
    """Decides weights, batches and dropout."""
    workers: int | None = None
    """Threads or processes that share a batch. Unless given: as many as processors, at most 8;
    fewer where a step is so small that they would wait for each other."""

    def __post_init__(self) -> None:
        if self.steps is not None and self.minutes is not None:
            raise ConfigurationError("give steps or minutes, not both")
        for name in ("batch", "accumulation", "evaluations"):
            _check_whole(name, getattr(self, name), 1)
        _check_whole("seed", self.seed, 0)
        for name in ("steps", "workers"):
            if getattr(self, name) is not None:
                _check_whole(name, getattr(self, name), 1)
        if self.accumulation > self.batch:
            raise ConfigurationError(
                f"accumulation must be at most batch; got accumulation={self.accumulation}, "
                f"batch={self.batch}"
            )
        if self.optimizer not in OPTIMIZERS:
            raise ConfigurationError(
                f"optimizer must be one of {', '.join(OPTIMIZERS)}; got {self.optimizer!r}"
            )
        for name, usual in asdict(USUAL[self.optimizer]).items():
            if getattr(self, name) is AS_USUAL:
                object.__setattr__(self, name, usual)
        self._check_numbers()

    def _check_numbers(self) -> None:
        if self.minutes is not None:
            _check_number("minutes", self.minutes, above=0.0)
        _check_number("learning_rate", self.learning_rate, above=0.0)
        _check_number("clip", self.clip, above=0.0)
        _check_number("save_seconds", self.save_seconds, above=0.0)
        _check_number("weight_decay", self.weight_decay, least=0.0)
        _check_number("warm_up", self.warm_up, least=0.0, most=1.0)
        _check_number("decay_from", self.decay_from, least=0.0, most=1.0)

    def to_json(self) -> dict[str, Any]:
        """A dictionary for JSON."""
        return asdict(self)

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> "TrainingOptions":
        """The options in a document; an unknown key is refused, and what is missing is as it was.

        Raises:
            ConfigurationError: naming what was wrong.
        """
        unknown = sorted(set(document) - {field.name for field in fields(cls)})
        if unknown:
            raise ConfigurationError(f"training options: unknown {', '.join(unknown)}")
        return cls(**{"optimizer": OPTIMIZER_BEFORE, **document})


def _check_whole(name: str, value: Any, least: int) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= 2**53:
        raise ConfigurationError(
            f"{name} must be a whole number of at least {least}; got {value!r}"
        )


def _check_number(
    name: str,
    value: Any,
    above: float | None = None,
    least: float | None = None,
    most: float = 1e12,
) -> None:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if above is not None:
        if not (number and above < value <= most):
            raise ConfigurationError(
                f"{name} must be a number above {above:g}, at most {most:g}; got {value}"
            )
    elif not (number and least is not None and least <= value <= most):
        limit = f"between {least:g} and {most:g}" if most <= 1 else f"of at least {least:g}"
        raise ConfigurationError(f"{name} must be a number {limit}; got {value}")
