"""What a figure is held against."""

from dataclasses import dataclass
from typing import Any, Literal


@dataclass(frozen=True)
class Goal:
    """A figure is to be at most so much, or at least."""

    limit: float
    of: Literal["ratio", "ours"] = "ratio"
    """Which figure: clearformer over the peer, or clearformer's own, in the unit of the row."""
    at_least: bool = False
    """Whether more is better."""

    def reached(self, figure: float) -> bool:
        """Whether it is as it is to be."""
        return figure >= self.limit if self.at_least else figure <= self.limit

    def document(self) -> dict[str, Any]:
        """For JSON."""
        return {"limit": self.limit, "of": self.of, "at_least": self.at_least}
