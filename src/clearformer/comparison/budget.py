"""What each model of a comparison may have: parameters, and tokens or seconds of training."""

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from clearformer.errors import ConfigurationError

WITHIN = 0.02
"""Share by which the parameters of a model may differ from the budget."""

UNITS = {"": 1, "k": 1_000, "M": 1_000_000, "G": 1_000_000_000}

MOST = 2**53
"""Parameters and tokens; every whole number up to it is a float, too."""

NUMBER = re.compile(r"([0-9][0-9_]*(?:\.[0-9]+)?)([kMG]?)")


@dataclass(frozen=True)
class Budget:
    """Parameters, and tokens to read or seconds to train."""

    parameters: int
    tokens: int | None = None
    """Tokens that each model reads, a token as often as it is read."""
    seconds: float | None = None
    """Seconds that each model spends in training steps, on this machine."""

    def __post_init__(self) -> None:
        for name in ("parameters", "tokens"):
            value = getattr(self, name)
            if value is not None and not (type(value) is int and 1 <= value <= MOST):
                raise ConfigurationError(
                    f"the budget's {name} must be a whole number from 1 to {MOST:,}; "
                    f"got {_shown(value)}"
                )
        seconds = self.seconds
        if seconds is not None and not (_is_number(seconds) and 0 < seconds <= 1e9):
            raise ConfigurationError(
                f"the budget's seconds must be a number above 0, at most 1e9; got {_shown(seconds)}"
            )
        if (self.tokens is None) == (self.seconds is None):
            raise ConfigurationError(
                "a budget has tokens or seconds, one of the two; "
                f"got tokens={self.tokens}, seconds={self.seconds}"
            )

    def allows(self, parameters: int) -> bool:
        """Whether a model of so many parameters is as large as the others, within 2 %."""
        return abs(parameters - self.parameters) <= WITHIN * self.parameters

    def __str__(self) -> str:
        """As it is written on the command line."""
        given = [(name, value) for name, value in asdict(self).items() if value is not None]
        return ",".join(f"{name}={value:.15g}" for name, value in given)

    def to_json(self) -> dict[str, Any]:
        """As the document has it."""
        return {**asdict(self), "within": WITHIN}


def budget_of(given: str | Mapping[str, Any] | Budget | None, default: Budget) -> Budget:
    """The budget that is meant; what it leaves open is taken from `default`.

    Args:
        given: such as "parameters=0.8M,tokens=500k" or {"parameters": 800_000, "seconds": 60}.
        default: parameters, and tokens or seconds where neither is given.

    Raises:
        ConfigurationError: it cannot be read, or cannot be.
    """
    if isinstance(given, Budget):
        return given
    if given is not None and not isinstance(given, str | Mapping):
        raise ConfigurationError(f"a budget is a string or a mapping; got {given!r:.40}")
    parts = _read(given) if isinstance(given, str) else dict(given or {})
    unknown = sorted(str(name) for name in set(parts) - {"parameters", "tokens", "seconds"})
    if unknown:
        raise ConfigurationError(
            f"a budget has parameters, and tokens or seconds; got {', '.join(unknown)}"
        )
    parts = {name: value for name, value in parts.items() if value is not None}
    length = (
        {} if {"tokens", "seconds"} & set(parts)
        else {"tokens": default.tokens, "seconds": default.seconds}
    )  # fmt: skip
    return Budget(**{"parameters": default.parameters, **length, **parts})


def _read(text: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for part in text.split(","):
        name, equals, value = (piece.strip() for piece in part.partition("="))
        match = NUMBER.fullmatch(value)
        if not equals or match is None or name in found:
            raise ConfigurationError(
                f"a budget is written as parameters=800k,tokens=1M or parameters=800k,seconds=60, "
                f"each once; got {part.strip()!r}"
            )
        number = float(match[1].replace("_", "")) * UNITS[match[2]]
        found[name] = number if name == "seconds" else _whole(name, number)
    return found


def _whole(name: str, number: float) -> int:
    if number > MOST:
        raise ConfigurationError(
            f"the budget's {name} must be a whole number from 1 to {MOST:,}; got {number:g}"
        )
    if not number.is_integer():
        raise ConfigurationError(f"the budget's {name} must be a whole number; got {number:g}")
    return int(number)


def _shown(value: Any) -> str:
    """As it was given, but for what no line holds."""
    return "a number of thousands of digits" if _is_huge(value) else f"{value!r:.40}"


def _is_huge(value: Any) -> bool:
    return isinstance(value, int) and abs(value) > 2**1000


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
