"""What a verification found: a row for each operation and type of number, and the verdict."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any


@dataclass(frozen=True)
class Error:
    """The largest error of some numbers, and what is allowed."""

    number: float
    bound: float
    where: str = ""
    """The case in which it was met."""

    @property
    def agrees(self) -> bool:
        """Whether it is within its bound."""
        return self.number <= self.bound

    @property
    def reason(self) -> str:
        """What is wrong with it, in words."""
        if isfinite(self.number):
            return f"error {self.number:.2g}, allowed {self.bound:.2g}, in {self.where}"
        return f"NaN, infinite or of another shape, in {self.where}"


@dataclass(frozen=True)
class Row:
    """One operation, or one larger whole, in one type of number."""

    name: str
    dtype: str
    value: Error | None
    gradient: Error | None
    """None where there is nothing to differentiate."""
    failure: str = ""
    """What an engine raised, and in which case."""

    @property
    def agrees(self) -> bool:
        """Whether every error is within its bound, and nothing was raised."""
        errors = [error for error in (self.value, self.gradient) if error]
        return not self.failure and bool(errors) and all(error.agrees for error in errors)

    @property
    def reason(self) -> str:
        """Why it does not agree; empty if it does."""
        if self.agrees:
            return ""
        errors = ("value", self.value), ("gradient", self.gradient)
        worst = [f"{kind} {error.reason}" for kind, error in errors if error and not error.agrees]
        return "; ".join([self.failure] * bool(self.failure) + worst)

    def to_json(self) -> dict[str, Any]:
        """A dictionary for JSON; an error that is no number is null."""
        return {
            "name": self.name,
            "dtype": self.dtype,
            "value_error": _number(self.value),
            "value_bound": self.value.bound if self.value else None,
            "gradient_error": _number(self.gradient),
            "gradient_bound": self.gradient.bound if self.gradient else None,
            "agrees": self.agrees,
            "reason": self.reason,
        }


def _number(error: Error | None) -> float | None:
    return error.number if error and isfinite(error.number) else None


@dataclass(frozen=True)
class Verification:
    """Every row, and what they say together."""

    engine: str
    device: str
    versions: Mapping[str, str]
    """Of NumPy and of what else computed."""
    rows: Sequence[Row]
    notes: Sequence[str]
    seconds: float

    @property
    def agrees(self) -> bool:
        """Whether every row does."""
        return all(row.agrees for row in self.rows)

    def to_json(self) -> dict[str, Any]:
        """A dictionary for JSON."""
        return {
            "operations": [row.to_json() for row in self.rows],
            "agrees": self.agrees,
            "engine": self.engine,
            "device": self.device,
            "versions": dict(self.versions),
            "seconds": round(self.seconds, 3),
            "notes": list(self.notes),
        }
