"""How the best of a comparison stands to the others: what may be said of a difference."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from clearformer.comparison.document import Comparison
from clearformer.comparison.statistics import apart


@dataclass(frozen=True)
class Standing:
    """One comparison by the measure that its models are ranked by."""

    comparison: Comparison

    @property
    def unknown(self) -> bool:
        """Whether any interval is: then none is compared."""
        return any(self.interval(name)["low"] is None for name in self.comparison.names)

    @property
    def equal(self) -> bool:
        """Whether all have the same mean, and none an interval around it."""
        found = [self.interval(name) for name in self.comparison.names]
        means = {each["mean"] for each in found}
        return len(means) == 1 and all(each["low"] == each["high"] for each in found)

    @property
    def alike(self) -> list[str]:
        """Those whose interval overlaps that of the best: a difference is not shown."""
        best, *others = self.comparison.ranked
        return [name for name in others if not self.apart(best, name)]

    def apart(self, one: str, other: str) -> bool:
        """Whether the intervals of two do not overlap."""
        return apart(self.interval(one), self.interval(other))

    def interval(self, name: str) -> Mapping[str, Any]:
        """{mean, low, high, seeds} of an entrant."""
        return self.comparison.summary[name][self.comparison.measure]
