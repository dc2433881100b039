"""The search for a learning rate: the same small grid for every model, one further at its edge.

A trial of the search is short, and what is short gains from a larger rate: it has fewer steps to
get anywhere, and what a large rate spoils shows late. So of rates that do about as well there the
smallest is taken.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from clearformer.comparison.plan import GRID, WIDER
from clearformer.errors import ConfigurationError

ALIKE = 0.02
"""Losses that differ from the least by no more than this share of it are about as good. Measured:
two rates for a GRU of 800,000 parameters were 0.1 % apart after a fifth of the tokens, the larger
one ahead; after all of them the smaller one was by 8 %."""


@dataclass(frozen=True)
class Tried:
    """What the search has found."""

    trials: tuple[tuple[float, float | None], ...]
    """Each rate with its loss in nats, None where training diverged; rates ascending."""
    chosen: float
    widened: bool
    """Whether the best lay at the edge of the grid, so that one further was tried."""

    @property
    def best(self) -> float:
        """The rate with the least loss; of several the smallest."""
        return _least("it", dict(self.trials))

    @property
    def at_the_edge(self) -> bool:
        """Whether the best still lies at the end of all that was tried."""
        return self.best in (self.trials[0][0], self.trials[-1][0])

    @property
    def smallest_taken(self) -> bool:
        """Whether the smallest of all was chosen, though another one was a little better."""
        return self.chosen == self.trials[0][0] != self.best

    def to_json(self) -> dict[str, Any]:
        """As the document has it."""
        return {
            "trials": [{"learning_rate": rate, "loss": loss} for rate, loss in self.trials],
            "chosen": self.chosen,
            "widened": self.widened,
        }

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> "Tried":
        """The same from a document."""
        trials = tuple((each["learning_rate"], each["loss"]) for each in document["trials"])
        return cls(trials, document["chosen"], document["widened"])


def searched(
    name: str, loss_of: Callable[[float], float | None], grid: Sequence[float] = GRID
) -> Tried:
    """Tries the rates of the grid; if the best lies at its edge, one beyond that, too.

    The smallest of those is chosen whose loss is within 2 % of the least.

    Args:
        name: of the entrant, for a message.
        loss_of: a short trial with a rate; None where it diverged.
        grid: learning rates, ascending.

    Raises:
        ConfigurationError: training diverged with all of them.
    """
    losses = {rate: loss_of(rate) for rate in grid}
    best = _least(name, losses)
    beyond = WIDER.get(best) if best in (grid[0], grid[-1]) else None
    if beyond is not None:
        losses[beyond] = loss_of(beyond)
    chosen = _smallest(losses, losses[_least(name, losses)])
    return Tried(tuple(sorted(losses.items())), chosen, beyond is not None)


def _smallest(losses: dict[float, float | None], least: float | None) -> float:
    """The smallest rate that does about as well as the best."""
    enough = (least or 0.0) * (1 + ALIKE)
    return min(rate for rate, loss in losses.items() if loss is not None and loss <= enough)


def _least(name: str, losses: dict[float, float | None]) -> float:
    finite = {rate: loss for rate, loss in losses.items() if loss is not None}
    if not finite:
        raise ConfigurationError(
            f"training {name} diverged with every learning rate of the search "
            f"({', '.join(f'{rate:g}' for rate in losses)}); leave it out, or change its dials"
        )
    return min(finite, key=lambda rate: (finite[rate], rate))
